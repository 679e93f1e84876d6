"""Derives Chinese questions from bilingual documents; the code that a document describes is the answer.

Three kinds of documents identify their code: message catalogs (a translated message, and the file that shows it), reference
pages (a heading that is an identifier, and a Chinese sentence below it), and pages in the folder of the component that they
describe.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import polib

MIN_CHARACTERS, MAX_CHARACTERS = 6, 60
"""Chinese characters of a question: fewer only name a thing, more are a page of text."""
N_COMPARED = 40
"""Characters of a message that are searched in the file."""
CJK = "\u3400-\u9fff\uf900-\ufaff"
cjk_run = re.compile(rf"[{CJK}\u3000-\u303f\uff00-\uffef]+")
_cjk = re.compile(f"[{CJK}]")
_marked = re.compile(r"(^|[/._-])(zh|cn)([_-](hans|hant|cn|tw|hk))*(_(cn|tw|hk))?([/._-]|$)", re.IGNORECASE)
_placeholder = re.compile(r"%\([\w ]+\)[a-z]|%[sdrif]|\{[^{}]*\}|<[^<>]*>|`[^`]*`|\*\*|:[a-z:]+:")
_link = re.compile(r"\[([^\[\]]*)\]\([^()]*\)|https?://\S+")
_identifier = re.compile(r"`{0,2}([A-Za-z_]\w*)`{0,2}(\(.*\))?")

CODE = (".py", ".js", ".ts", ".vue")
"""Suffixes of files that can be answers: code, not templates or pages of text."""

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
    """Message ids or lines that are removed from the tree's Chinese documents."""
    english: str = ""
    """The question in English, if the document has it."""

    @property
    def digest(self) -> str:
        """Return a hash of the question, by which rows are chosen."""
        return hashlib.sha256(f"{self.path}\0{self.text}".encode()).hexdigest()


def is_chinese_place(path: str) -> bool:
    """Return whether a path is marked as Chinese: docs/zh/…, README.zh-CN.md, zh_Hans/….po."""
    return bool(_marked.search(path))


def n_chinese(text: str) -> int:
    """Return the number of Chinese characters."""
    return len(_cjk.findall(text))


def question_of(text: str) -> str | None:
    """Return a Chinese sentence as a question, without placeholders, markup and code; None if it is too short or too long."""
    linked = _link.sub(r"\1", text)
    bare = re.sub(r"\s+", " ", _placeholder.sub(" ", linked)).strip(" -:\uff1a\u3002.")
    return bare if MIN_CHARACTERS <= n_chinese(bare) <= MAX_CHARACTERS else None


def catalog_questions(catalog: str, files: Files) -> Iterator[ChineseQuestion]:
    """Yield a question for each message of a catalog that exactly one code file contains.

    A catalog names the files of a message; they may have changed since, so they must still contain it.

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
    """Yield a question for each heading of a page that is an identifier with a Chinese sentence below it.

    The names below the heading of a class are defined in the file of that class.
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
    """Return the question of one component's page: its Chinese title, and the first Chinese sentence after it.

    Args:
        page: A page with a line "title: Dialog 模态窗".
        code: Path of the component's file.
    """
    title = re.search(r"(?m)^title:.*$", page)
    if title is None:
        return None
    sentences = [line for line in page[title.end() :].split("\n") if n_chinese(line) >= MIN_CHARACTERS]
    first = next((line for line in sentences if not line.startswith(("|", "#", "preview"))), "")
    asks = question_of("".join(cjk_run.findall(title[0])) + " " + first)
    return ChineseQuestion("docs", asks, code, (title[0], first)) if asks else None


def without_asked(text: str, asked: Callable[[str], bool], *, is_catalog: bool) -> str:
    """Return a Chinese document without the asked messages of a catalog, or the asked lines of any other document."""
    if not is_catalog:
        return "\n".join(line for line in text.split("\n") if not asked(line))
    catalog = polib.pofile(text)
    catalog[:] = [entry for entry in catalog if not asked(entry.msgid)]
    return str(catalog)


def without_chinese(text: str) -> str:
    """Return a text without its Chinese characters."""
    return cjk_run.sub("", text)


def _files_of_place(place: str, files: Files) -> list[str]:
    """Return the files that a location in a catalog names: "../pkg/base.py", "src/pkg/base.py", "roles.py"."""
    parts = [part for part in PurePosixPath(place).parts if part != ".."]
    for start in range(len(parts)):
        wanted = "/" + "/".join(parts[start:])
        found = [path for path in files if f"/{path}".endswith(wanted)]
        if found:
            return found
    return []


def _squeezed(text: str) -> str:
    """Return a text without white space, quotes and backslashes, which line breaks in a string literal add."""
    return re.sub(r"[\s\"'\\]+", "", text)
