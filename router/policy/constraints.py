"""Finds constraints in the user's text, so that they enter the state, which is never pushed out of the context."""

import re

MAX_CONSTRAINT_CHARACTERS = 160

_constraint = re.compile(
    r"\b(?:do not|don't|never|must(?: not)?|always|only use|avoid|make sure|without (?:using|touching|changing)"
    r"|remember[,:]|no (?:new )?dependenc)|记住|不要|不用|不能|不许|不得|禁止|必须|务必|只能|保持|统一使用",
    re.IGNORECASE,
)
_sentence = re.compile(r"(?<=[.!;\u3002\uff01\uff1b])\s*|\n+")
_question = re.compile(r"[?\uff1f]\s*$")


def find_constraints(text: str) -> tuple[str, ...]:
    """Return the sentences that demand or forbid something; questions are not constraints."""
    found = []
    for sentence in _sentence.split(text):
        words = " ".join(sentence.split()).rstrip(".;\u3002\uff1b")
        if (
            words
            and len(words) <= MAX_CONSTRAINT_CHARACTERS
            and _constraint.search(words)
            and not _question.search(words)
        ):
            found.append(words)
    return tuple(dict.fromkeys(found))
