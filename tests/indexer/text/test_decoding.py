"""Decoding bytes, and recording their encoding."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.indexer.problems import Reason
from codecards.indexer.text.decoding import DecodedText, decode

CODE = "/* {} */\nint total(int price) {{\n    return price;\n}}\n"
SENTENCES = {
    "zh": "读取用户的收货地址，并写入日志文件",
    "tw": "讀取使用者的收貨地址，並寫入紀錄檔案",
    "ja": "住所を読み込んでログに書き出す",
    "ko": "주소를 읽어서 기록 파일에 쓴다",
    "ru": "читает адрес доставки и пишет его в журнал",
    "fr": "renvoie l'adresse du client après l'avoir vérifiée",
    "de": "prüft die Größe und ändert das Maß",
    "pl": "zapisuje błąd i wraca do początku pętli",
    "word": "naïve",
}


def text_of(data: bytes) -> DecodedText:
    decoded = decode(data)
    assert isinstance(decoded, DecodedText), decoded
    return decoded


def reasons(decoded: DecodedText) -> list[Reason]:
    return [reason for reason, _ in decoded.problems]


@pytest.mark.seed("S0-6")
@pytest.mark.parametrize(
    ("sentence", "written", "expected"),
    [
        ("zh", "gbk", "gb18030"),
        ("zh", "gb18030", "gb18030"),
        ("tw", "big5", "big5hkscs"),
        ("ja", "shift_jis", "cp932"),
        ("ja", "euc_jp", "euc_jp"),
        ("ko", "euc_kr", "cp949"),
        ("ru", "koi8-r", "koi8-r"),
        ("ru", "cp1251", "cp1251"),
        ("fr", "latin-1", "cp1252"),
        ("de", "cp1252", "cp1252"),
        ("pl", "cp1250", "cp1250"),
        ("word", "latin-1", "cp1252"),
    ],
)
def test_one_comment_is_enough_to_detect_a_legacy_encoding(sentence: str, written: str, expected: str) -> None:
    source = CODE.format(SENTENCES[sentence])
    decoded = text_of(source.encode(written))
    assert (decoded.text, decoded.encoding, reasons(decoded)) == (source, expected, [Reason.DECODED_BY_GUESS])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("comment", ["plain", SENTENCES["zh"] * 20])
@pytest.mark.parametrize("has_bom", [True, False])
def test_utf_16_is_decoded_with_and_without_a_byte_order_mark(encoding: str, comment: str, has_bom: bool) -> None:
    source = CODE.format(comment).replace("\n", "\r\n")
    bom = codecs.BOM_UTF16_LE if encoding.endswith("le") else codecs.BOM_UTF16_BE
    decoded = text_of((bom if has_bom else b"") + source.encode(encoding))
    assert (decoded.text, decoded.encoding, decoded.has_bom, decoded.problems) == (source, encoding, has_bom, ())


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        (b" \n\t\n", " \n\t\n", "utf-8"),
        (b"\xef\xbb\xbf", "", "utf-8"),
        (b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n", "utf-8"),
        ("größer → 計算 🚀\n".encode(), "größer → 計算 🚀\n", "utf-8"),
        (b"a\r\nb\nc\r\n", "a\r\nb\nc\r\n", "utf-8"),
        (b"a\rb\rc", "a\nb\nc", "utf-8"),
        (b"no newline at the end", "no newline at the end", "utf-8"),
        ("# 計算\n".encode("iso2022_jp"), "# 計算\n", "iso2022_jp"),
        (b"BMP images start with BM\n", "BMP images start with BM\n", "utf-8"),
        (b"ID3 tags\n", "ID3 tags\n", "utf-8"),
    ],
)
def test_text_is_decoded_without_a_problem(data: bytes, text: str, encoding: str) -> None:
    decoded = text_of(data)
    assert (decoded.text, decoded.encoding, decoded.problems) == (text, encoding, ())


@pytest.mark.parametrize(
    "head", ["# -*- coding: koi8-r -*-", "#!/usr/bin/python\n# vim: set fileencoding=koi8-r :", "# coding=koi8-r"]
)
def test_a_coding_line_is_followed(head: str) -> None:
    source = f"{head}\n# Имя\n"
    decoded = text_of(source.encode("koi8-r"))
    assert (decoded.text, decoded.encoding, decoded.problems) == (source, "koi8-r", ())


@pytest.mark.parametrize(
    "name", ["rot13", "idna", "punycode", "undefined", "utf-16", "unicode_escape", "no-such", "base64"]
)
def test_a_coding_line_without_a_text_encoding_is_ignored(name: str) -> None:
    source = f"# coding: {name}\n# {SENTENCES['ru']}\n"
    assert text_of(source.encode("cp1251")).text == source


def test_a_wrong_coding_line_is_ignored_for_valid_utf_8() -> None:
    source = "# coding: latin-1\n# 計算\n"
    assert text_of(source.encode()).text == source


def test_a_line_in_another_encoding_leaves_the_utf_8_around_it_intact() -> None:
    data = "# 计算折扣\n# 读取配置\n".encode() + "# 读取用户的收货地址\n".encode("gbk")
    decoded = text_of(data)
    assert decoded.text == "# 计算折扣\n# 读取配置\n# 读取用户的收货地址\n"
    assert (decoded.encoding, reasons(decoded)) == ("utf-8", [Reason.DECODED_BY_GUESS])


def test_a_nul_in_code_becomes_a_space_and_is_reported() -> None:
    decoded = text_of(b"int first(void) { return 1; }\n/* a\0b */\nint second(void) { return 2; }\n")
    assert decoded.text.splitlines()[1:] == ["/* a b */", "int second(void) { return 2; }"]
    assert reasons(decoded) == [Reason.NUL_BYTES]


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        b"\x7fELF" + bytes(60),
        b"GIF89a" + bytes(20),
        bytes(range(256)) * 8 + b"def inside(): pass",
        b"\0" * 500,
        b"\x01\x02\x03\x04" * 50,
    ],
)
def test_binary_content_is_recognised(data: bytes) -> None:
    decoded = decode(data)
    assert not isinstance(decoded, DecodedText)
    assert decoded[0] is Reason.BINARY


def test_half_a_character_at_the_end_of_utf_16_is_dropped_alone() -> None:
    decoded = text_of(codecs.BOM_UTF16_LE + "x = 1\n".encode("utf-16-le") + b"y")
    assert (decoded.text, reasons(decoded)) == ("x = 1\n", [Reason.DECODED_BY_GUESS])


@given(st.one_of(st.binary(), st.text().map(str.encode), st.text().map(lambda text: text.encode("utf-16"))))
def test_any_bytes_decode_without_error_to_text_without_nul_or_lone_cr(data: bytes) -> None:
    decoded = decode(data)
    if isinstance(decoded, DecodedText):
        assert "\0" not in decoded.text
        assert "\n" in decoded.text or "\r" not in decoded.text
    else:
        assert decoded[0] in (Reason.BINARY, Reason.UNDECODABLE)
        assert decoded[1]


@given(st.text(st.characters(exclude_characters="\0\r\x1b", exclude_categories=("Cc", "Cs"))))
def test_utf_8_round_trips(text: str) -> None:
    decoded = decode(text.encode())
    if isinstance(decoded, DecodedText) and not decoded.has_bom:
        assert decoded.text == text


def test_half_a_surrogate_pair_replaces_one_character_of_utf_16() -> None:
    decoded = text_of(codecs.BOM_UTF16_LE + "# a".encode("utf-16-le") + b"\x00\xd8" + "\ncode()\n".encode("utf-16-le"))
    assert decoded.text.endswith("\ncode()\n")
    assert reasons(decoded) == [Reason.DECODED_BY_GUESS]


def test_trailing_zeros_after_a_crash_do_not_make_code_binary() -> None:
    decoded = text_of(b"def run():\n    pass\n" + bytes(4096))
    assert decoded.text.rstrip() == "def run():\n    pass"
    assert reasons(decoded) == [Reason.NUL_BYTES]
