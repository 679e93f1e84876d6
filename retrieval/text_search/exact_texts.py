"""Exact texts: what a question quotes, or writes as only code does, and what is found word for word beside meaning."""

import re

MIN_CHARACTERS, MAX_CHARACTERS = 3, 200
MAX_TEXTS = 4
"""Texts of one question that are looked for."""
_QUOTED = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_WRITTEN_LIKE_CODE = re.compile(
    r"""(?<![\w./-])(?:
        \w+(?:\.\w+)*->\w+                              # p->x
      | [A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+        # X-Request-Id
      | [A-Z]{1,6}-?\d{3,6}                             # E1042, RFC-9110
      | [\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,4} # ops@example.org, ops@
      | --[a-z][\w-]{1,60}                              # --dry-run
      | 0x[0-9A-Fa-f]{2,16}
      | \$\{\w+\}
    )(?![\w-])""",
    re.VERBOSE,
)
_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*(?:\(\))?")


def exact_texts(question: str) -> tuple[str, ...]:
    """Return the texts of a question that are looked for word for word, each once, in order.

    A plain name between quotes or backticks is left to the search by names, which knows where it is defined.
    """
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(question)]
    found = [text for text in quoted if not _PLAIN_NAME.fullmatch(text)]
    found += [match[0] for match in _WRITTEN_LIKE_CODE.finditer(_QUOTED.sub(" ", question))]
    kept = [text for text in found if MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS]
    return tuple(dict.fromkeys(kept))[:MAX_TEXTS]
