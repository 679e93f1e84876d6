"""The English words that a repository uses for its Chinese ones."""

from pathlib import Path

from codecards.retrieval.store.build_glossary import catalog_texts, is_catalog, po_pairs
from codecards.retrieval.store.glossary import GLOSSARY_FILE, read_glossary
from tests.support.indexed_text import IndexedText, indexed
from tests.support.repo_text import split_files

CATALOG = """\
#- shop/locale/zh_CN/LC_MESSAGES/shop.po
msgid ""
msgstr "Content-Type: text/plain"

msgid "The voyage was booked"
msgstr "航程预订完毕"

msgid "No voyage on this day"
msgstr "当天没有航程"

msgid ""
"Pay for the "
"voyage"
msgstr "支付航程费用"

#~ msgid "Gone voyage"
#~ msgstr "航程"
#- shop/harbour.py
def list_ships(day):
    return day
#- shop/voyage.py
def cancel(day):
    return day
"""


def names(made: IndexedText, chinese: str) -> list[str]:
    """Return the English stems that the newest generation knows for a Chinese word."""
    return [word for word, _ in read_glossary(made.folder / str(made.generation)).get(chinese, ())]


def test_a_catalog_adds_words_that_the_list_does_not_have(tmp_path: Path) -> None:
    made = indexed(tmp_path, CATALOG)
    assert names(made, "航程") == ["voyag"]
    assert names(made, "费用") == []  # once may be chance
    hits = [path for path in made.paths("取消航程") if path.endswith(".py")]
    assert hits[0] == "shop/voyage.py"


def test_messages_span_several_lines_and_obsolete_ones_are_skipped() -> None:
    assert list(po_pairs(CATALOG)) == [
        ("航程预订完毕", "The voyage was booked"),
        ("当天没有航程", "No voyage on this day"),
        ("支付航程费用", "Pay for the voyage"),
    ]


def test_keyed_texts_of_both_languages_are_paired_by_key(tmp_path: Path) -> None:
    chinese = "export default {\n  one: '航程列表',\n  two: \"航程时刻\",\n  three: '我的航程',\n}\n"
    english = 'export default {\n  one: "Voyages",\n  two: "Voyage times",\n  three: "My voyage",\n}\n'
    made = indexed(tmp_path, f"#- lang/zh-CN.js\n{chinese}#- lang/en-US.js\n{english}#- a.py\nx = 1\n")
    assert names(made, "航程") == ["voyag"]
    assert catalog_texts("lang/zh-CN.js", "a: '一',\na: '二',\nb: '三',\n") == {"b": "三"}


def test_sections_of_documents_in_both_languages_are_paired_in_order(tmp_path: Path) -> None:
    def page(*parts: str) -> str:
        return "".join(f"# {part}\n\n{part} {part}\n\n" for part in parts)

    chinese = page("预订航程", "取消航程", "航程列表", "安装")
    english = page("Book a voyage", "Cancel a voyage", "List of voyages", "Installation")
    made = indexed(tmp_path, f"#- README.zh-CN.md\n{chinese}#- README.md\n{english}")
    assert names(made, "航程") == ["voyag"]


def test_comments_and_names_are_paired(tmp_path: Path) -> None:
    code = "".join(
        f"# 航程{what}\ndef voyage_{name}(day):\n    return day\n\n\n"
        for what, name in (("预订", "book"), ("取消", "cancel"), ("列表", "all"), ("价格", "price"))
    )
    made = indexed(tmp_path, f"#- a.py\n{code}#- b.py\ndef other(day):\n    return day\n")
    assert names(made, "航程")[0] == "voyag"


def test_a_glossary_after_edits_equals_a_fresh_one(tmp_path: Path) -> None:
    files = split_files(CATALOG)
    path = next(path for path in files if path.endswith(".po"))
    made = indexed(tmp_path / "edited", CATALOG)
    changed = files[path].replace("航程", "旅程")
    made.update({"shop/harbour.py": "def ships(day):\n    return day\n"})
    assert names(made, "航程") == ["voyag"]  # though only another file has changed
    made.update({path: changed})
    fresh = IndexedText(tmp_path / "fresh")
    fresh.update(files | {path: changed, "shop/harbour.py": "def ships(day):\n    return day\n"})
    edited = made.folder / str(made.generation) / GLOSSARY_FILE
    assert edited.read_text() == (fresh.folder / "1" / GLOSSARY_FILE).read_text()
    assert names(made, "旅程") == ["voyag"]
    made.update({path: None})
    assert names(made, "旅程") == []


def test_a_repository_without_chinese_gets_no_glossary(tmp_path: Path) -> None:
    made = indexed(tmp_path, "#- a.py\ndef one():\n    return 1\n")
    assert not (made.folder / "1" / GLOSSARY_FILE).exists()


def test_catalogs_are_recognised_by_their_path() -> None:
    assert all(
        map(is_catalog, ["a/locale/zh_Hans/LC_MESSAGES/django.po", "po/zh_CN.po", "lang/zh-CN.json", "i18n/en.ts"])
    )
    assert not any(map(is_catalog, ["locale/de/LC_MESSAGES/a.po", "src/token.ts", "src/english.py", "zhang.po"]))
