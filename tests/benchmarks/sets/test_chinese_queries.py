"""Chinese questions derived from bilingual documents."""

from benchmarks.sets.chinese_queries import (
    catalog_questions,
    component_question,
    is_chinese_place,
    question_of,
    reference_questions,
    without_asked,
    without_chinese,
)
from benchmarks.sets.chinese_set import questions_of

CATALOG = """\
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"

#: src/shop/login.py:3
msgid "The user %s is not known."
msgstr "用户 %s 不存在于系统中。"

#: shop/login.py:9
#, fuzzy
msgid "Wrong password"
msgstr "密码不正确，请再试一次"

#: shop/login.py:12
msgid "Gone from the code since"
msgstr "代码里已经没有的一句话"

#: shop/page.html:1
msgid "Welcome to the shop"
msgstr "欢迎光临我们的商店"
"""
FILES = {
    "shop/login.py": 'def log_in(name):\n    fail("The user "\n         "%s is not known." % name)\n    # Wrong password\n',
    "shop/page.html": "<h1>Welcome to the shop</h1>",
    "locale/zh_CN/LC_MESSAGES/shop.po": CATALOG,
}


def test_a_translated_message_asks_for_the_code_file_that_still_contains_it() -> None:
    found = list(catalog_questions(CATALOG, FILES))
    assert [(one.text, one.path, one.english) for one in found] == [
        ("用户 不存在于系统中", "shop/login.py", "The user %s is not known.")
    ]


def test_the_messages_that_ask_are_removed_from_the_catalog() -> None:
    left = without_asked(CATALOG, {"The user %s is not known."}.__contains__, is_catalog=True)
    assert "不存在于" not in left
    assert "欢迎光临" in left


def test_a_heading_that_is_an_identifier_asks_with_the_sentence_under_it() -> None:
    page = "## AdminSite\n\n- 管理站点类\n\n#### `mount_app`\n\n将当前站点挂载到FastAPI实例.\n\n#### gone\n\n这个方法已经不在代码里了\n"
    files = {
        "site.py": "class AdminSite:\n    def mount_app(self):\n        pass\n",
        "other.py": "def mount_app(): ...\n",
    }
    found = [(one.text, one.path, one.asked) for one in reference_questions(page, files)]
    assert found == [("将当前站点挂载到FastAPI实例", "site.py", ("将当前站点挂载到FastAPI实例.",))]


def test_a_components_page_asks_with_its_title_and_first_sentence() -> None:
    page = "---\ntitle: Dialog 模态窗\npreview: 这里不是说明文字\n---\n\n### 这是一个标题行\n交互式模态窗口\n"
    question = component_question(page, "dialog/dialog.vue")
    assert question is not None
    assert (question.text, question.asked) == ("模态窗 交互式模态窗口", ("title: Dialog 模态窗", "交互式模态窗口"))


def test_too_little_or_too_much_chinese_does_not_ask() -> None:
    assert question_of("文件名") is None
    assert question_of("很" * 61) is None
    assert question_of("参考 [文件上传组件的说明](https://x.cn/a) `upload`") == "参考 文件上传组件的说明"


def test_chinese_documents_are_recognised_by_their_path() -> None:
    marked = ["docs/zh/a.md", "README.zh-CN.md", "README_zh.md", "locale/zh_Hans_CN/LC_MESSAGES/a.po", "lang/zh-cn.js"]
    assert all(map(is_chinese_place, marked))
    assert not any(map(is_chinese_place, ["docs/en/a.md", "cnn/layers.py", "src/zhang.py", "README.md"]))


def test_a_message_asks_once_and_a_text_with_two_answers_does_not_ask() -> None:
    files = FILES | {"locale/zh_Hans/LC_MESSAGES/shop.po": CATALOG.replace("不存在于系统中", "在系统中并不存在")}
    assert [one.text for one in questions_of(files)] == ["用户 不存在于系统中"]
    both = {
        "a.py": "fail('First one here')",
        "b.py": "fail('Second one here')",
        "zh/LC_MESSAGES/a.po": 'msgid "First one here"\nmsgstr "同一句中文翻译"\n\n',
    }
    two = "".join(
        f'#: {name}.py:1\nmsgid "{text} one here"\nmsgstr "同一句中文翻译"\n\n'
        for name, text in (("a", "First"), ("b", "Second"))
    )
    assert questions_of(both | {"zh/LC_MESSAGES/a.po": two}) == []


def test_no_chinese_character_remains() -> None:
    assert without_chinese("a = 1  # 变量，很好\n") == "a = 1  # \n"
