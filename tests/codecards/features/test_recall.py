"""Questions that mix two languages."""

from pathlib import Path

from codecards.engine import Engine
from tests.support.indexed import write_repository

REPO = """\
#- docs/设计.md
# 设计说明

数据库检索系统使用两级缓存。
#- src/render.py
def draw(canvas):
    return canvas.paint()
#- src/login.py
def login(user):
    return user.name
#- src/math.py
def add(left, right):
    return left + right
#- src/order.py
def order(items):
    return sorted(items)
#- src/mail.py
def send(mail):
    return mail.body
"""


def test_a_word_given_in_two_languages_matches_either(tmp_path: Path) -> None:
    with Engine.open(write_repository(tmp_path, REPO), build=False) as engine:
        engine.refresh()
        for question in ("缓存 database cache", "缓存 cache", "数据库 database 检索"):
            assert [hit.card.path for hit in engine.recall(question).hits][:1] == ["docs/设计.md"], question
        assert engine.recall("支付 payment refund").hits == ()
