"""Chinese questions out of bilingual documents: the Chinese half asks, the code that the document speaks of answers.

Three kinds of documents say by themselves which code they are about: message catalogs (a translated message, and the
file that shows it), reference pages (a heading that is an identifier, and a Chinese sentence under it), and pages that
lie in the folder of the component that they describe.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import polib

MIN_CHARACTERS, MAX_CHARACTERS = 6, 60
"""Chinese characters of a question: fewer name a thing without saying anything of it, more are a page of text."""
N_COMPARED = 40
"""Characters of a message that are looked for in the file."""
CJK = "\u3400-\u9fff\uf900-\ufaff"
cjk_run = re.compile(rf"[{CJK}\u3000-\u303f\uff00-\uffef]+")
_cjk = re.compile(f"[{CJK}]")
_marked = re.compile(r"(^|[/._-])(zh|cn)([_-](hans|hant|cn|tw|hk))*(_(cn|tw|hk))?([/._-]|$)", re.IGNORECASE)
_placeholder = re.compile(r"%\([\w ]+\)[a-z]|%[sdrif]|\{[^{}]*\}|<[^<>]*>|`[^`]*`|\*\*|:[a-z:]+:")
_link = re.compile(r"\[([^\[\]]*)\]\([^()]*\)|https?://\S+")
_identifier = re.compile(r"`{0,2}([A-Za-z_]\w*)`{0,2}(\(.*\))?")

CODE = (".py", ".js", ".ts", ".vue")
"""Endings of files that are asked for: the question is about code, not about a template or a page of text."""

Files = Mapping[str, str]
"""Path from the root, with slashes → text."""


@dataclass(frozen=True, slots=True)
class ChineseQuestion:
    """A question and the one file that answers it."""

    category: str
    """"message" or "docs"."""
    text: str
    path: str
    asked: tuple[str, ...]
    """What is taken out of the tree's Chinese documents: message ids, or lines."""
    english: str = ""
    """The same in English, where the document says it."""

    @property
    def digest(self) -> str:
        """Return a hash of the question, to choose by."""
        return hashlib.sha256(f"{self.path}\0{self.text}".encode()).hexdigest()


def is_chinese_place(path: str) -> bool:
    """Return whether a path is marked as the Chinese half of something: docs/zh/…, README.zh-CN.md, zh_Hans/….po."""
    return bool(_marked.search(path))


def n_chinese(text: str) -> int:
    """Return the number of Chinese characters."""
    return len(_cjk.findall(text))


def question_of(text: str) -> str | None:
    """Return what a Chinese sentence asks: without placeholders, markup and code spans; None if it says too little."""
    linked = _link.sub(r"\1", text)
    bare = re.sub(r"\s+", " ", _placeholder.sub(" ", linked)).strip(" -:\uff1a\u3002.")
    return bare if MIN_CHARACTERS <= n_chinese(bare) <= MAX_CHARACTERS else None


def catalog_questions(catalog: str, files: Files) -> Iterator[ChineseQuestion]:
    """Yield a question for each message of a catalog that stands in exactly one file of code.

    A catalog names the files of a message; they may have changed since, so that the message must still be there.

    Args:
        catalog: Text of a .po file.
        files: The tree.
    """
    for entry in polib.pofile(catalog):
        asks = None if entry.obsolete or entry.fuzzy or not entry.msgstr else question_of(entry.msgstr)
        if asks is None:
            continue
        wanted = _squeezed(entry.msgid)[:N_COMPARED]
        named = {path for place, _ in entry.occurrences for path in _files_of_place(place, files)}
        places = [path for path in named if path.endswith(CODE) and wanted in _squeezed(files[path])]
        if len(places) == 1:
            yield ChineseQuestion("message", asks, places[0], (entry.msgid,), entry.msgid)


def reference_questions(page: str, files: Files) -> Iterator[ChineseQuestion]:
    """Yield a question for each heading of a page that is an identifier with a Chinese sentence under it.

    The last heading that is a class of the tree says where the names under it are defined.
    """
    owner: str | None = None
    lines = page.split("\n")
    for number, line in enumerate(lines[:-2]):
        head = re.fullmatch(r"#+\s+(?:#+\s+)?(.+?)\s*", line)
        name = _identifier.fullmatch(head[1]) if head else None
        if name is None:
            continue
        defining = [path for path, text in files.items() if re.search(rf"(?m)^class {name[1]}\b", text)]
        owner = defining[0] if len(defining) == 1 else owner if not defining else None
        below = next((line for line in lines[number + 1 : number + 4] if line.strip()), "")
        asks = question_of(below)
        if (
            asks
            and owner
            and not asks.startswith("参考")
            and re.search(rf"(def|class) {name[1]}\b|\b{name[1]}\s*[:=]", files[owner])
        ):
            yield ChineseQuestion("docs", asks, owner, (below,))


def component_question(page: str, code: str) -> ChineseQuestion | None:
    """Return what the page of one component asks: its Chinese title, and the first Chinese sentence after it.

    Args:
        page: With a line "title: Dialog 模态窗".
        code: The component's file.
    """
    title = re.search(r"(?m)^title:.*$", page)
    if title is None:
        return None
    sentences = [line for line in page[title.end() :].split("\n") if n_chinese(line) >= MIN_CHARACTERS]
    first = next((line for line in sentences if not line.startswith(("|", "#", "preview"))), "")
    asks = question_of("".join(cjk_run.findall(title[0])) + " " + first)
    return ChineseQuestion("docs", asks, code, (title[0], first)) if asks else None


def without_asked(text: str, asked: Callable[[str], bool], *, is_catalog: bool) -> str:
    """Return a Chinese document without what was asked: messages of a catalog, else lines."""
    if not is_catalog:
        return "\n".join(line for line in text.split("\n") if not asked(line))
    catalog = polib.pofile(text)
    catalog[:] = [entry for entry in catalog if not asked(entry.msgid)]
    return str(catalog)


def without_chinese(text: str) -> str:
    """Return a text without its Chinese characters."""
    return cjk_run.sub("", text)


def _files_of_place(place: str, files: Files) -> list[str]:
    """Return the files that a location of a catalog names: "../pkg/base.py", "src/pkg/base.py", "roles.py"."""
    parts = [part for part in PurePosixPath(place).parts if part != ".."]
    for start in range(len(parts)):
        wanted = "/" + "/".join(parts[start:])
        found = [path for path in files if f"/{path}".endswith(wanted)]
        if found:
            return found
    return []


def _squeezed(text: str) -> str:
    """Return a text without what line breaks inside a string literal add."""
    return re.sub(r"[\s\"'\\]+", "", text)
