"""SQL: statements of five dialects, their ends, and the names that bodies use."""

import pytest

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.dialects.sql_text import dialect_of_text
from codecards.indexer.parse.extraction import extract

POSTGRES = """\
-- Doubles a number.
CREATE FUNCTION yard.base(n int) RETURNS int AS $$ SELECT n * 2 $$ LANGUAGE sql;
CREATE FUNCTION bump(n numeric(9, 2)) RETURNS SETOF record AS $body$
BEGIN
  IF n > 1 THEN RETURN QUERY SELECT yard.base(n) + 1; END IF;
END
$body$ LANGUAGE plpgsql;
CREATE TABLE orders (id int, owner varchar(9) REFERENCES people(id));
COPY orders (id, owner) FROM stdin;
1\tit's CREATE TABLE no (x);
2\tCREATE FUNCTION none();
\\.
CREATE TABLE people (id int);
CREATE VIEW recent AS SELECT bump(o.id) AS x FROM orders o JOIN people p ON p.id = o.owner;
CREATE FUNCTION audit() RETURNS trigger AS $$ BEGIN RETURN NEW; END $$ LANGUAGE plpgsql;
CREATE TRIGGER tg AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION audit();
CREATE DOMAIN "*/*" AS bytea;
/* it's run by 'set role' */
CREATE TABLE "it" (a int);
"""
MYSQL = """\
CREATE TABLE `before_it` (id int AUTO_INCREMENT) ENGINE=InnoDB;
# the owner's own table
CREATE TABLE after_one (id int, note varchar(9) DEFAULT 'it\\'s');
DELIMITER $$
CREATE PROCEDURE fill(IN n INT)
BEGIN
  IF n > 1 THEN
    INSERT INTO after_one VALUES (n, 'x');
  END IF;
  CASE n WHEN 1 THEN SELECT 1; ELSE SELECT 2; END CASE;
  CALL other(n);
END$$
CREATE PROCEDURE other(IN n INT) BEGIN SELECT 1; END$$
DELIMITER ;
CREATE TABLE last_one (id int);
"""
ORACLE = """\
CREATE OR REPLACE PACKAGE pay AS
  PROCEDURE run(n NUMBER);
  FUNCTION rate(n NUMBER) RETURN NUMBER;
END pay;
/
CREATE OR REPLACE PACKAGE BODY pay AS
  FUNCTION rate(n NUMBER) RETURN NUMBER IS
    v NUMBER := 1;
  BEGIN
    IF n > 1 THEN v := 2; END IF;
    RETURN v;
  END rate;

  PROCEDURE run(n NUMBER) IS
  BEGIN
    FOR r IN (SELECT id FROM staff) LOOP
      UPDATE staff SET pay = rate(n) WHERE id = r.id;
    END LOOP;
  END run;
END pay;
/
CREATE TABLE staff (id NUMBER(9), pay NUMBER);
CREATE OR REPLACE PROCEDURE lone IS
  x VARCHAR2(9);
BEGIN
  pay.run(1);
END;
/
"""
TSQL = """\
CREATE TABLE [dbo].[Order Lines] (Id int IDENTITY(1,1), Note nvarchar(9))
GO
CREATE PROCEDURE dbo.Fill @n int AS
SET NOCOUNT ON;
DECLARE @x int = 1;
INSERT INTO [dbo].[Order Lines] (Note) VALUES ('C:\\');
EXEC dbo.Other @n;
GO
CREATE OR ALTER PROCEDURE dbo.Other @n int AS
BEGIN TRY
  SELECT * INTO #kept FROM dbo.Fresh();
END TRY
BEGIN CATCH
  THROW;
END CATCH
GO
"""
SQLITE = """\
PRAGMA foreign_keys = ON;
CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TRIGGER t AFTER INSERT ON a BEGIN
  UPDATE a SET id = CASE WHEN id > 1 THEN 2 ELSE 3 END;
  DELETE FROM a;
END;
CREATE VIEW v AS SELECT * FROM a;
"""


def outline(facts: FileFacts) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.qualified_name, one.first_line, one.last_line) for one in facts.definitions]


def uses(facts: FileFacts) -> set[tuple[str, str]]:
    return {
        (facts.definitions[one.owner].qualified_name if one.owner >= 0 else "", one.name) for one in facts.references
    }


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (POSTGRES, "postgres"),
        (MYSQL, "mysql"),
        (ORACLE, "oracle"),
        (TSQL, "tsql"),
        (SQLITE, "sqlite"),
        ("SELECT 1", ""),
    ],
)
def test_the_dialect_is_told_by_content(text: str, dialect: str) -> None:
    assert dialect_of_text(text) == dialect


def test_postgres_return_types_rows_and_comments_define_nothing() -> None:
    facts = extract(POSTGRES, "sql")
    assert outline(facts) == [
        ("function", "base", 2, 2),
        ("function", "bump", 3, 7),
        ("table", "orders", 8, 8),
        ("table", "people", 13, 13),
        ("view", "recent", 14, 14),
        ("function", "audit", 15, 15),
        ("trigger", "tg", 16, 16),
        ("type", "*/*", 17, 17),
        ("table", "it", 19, 19),
    ]
    assert facts.definitions[0].doc == "Doubles a number."
    assert facts.definitions[0].lead_line == 1
    assert {
        ("bump", "base"),
        ("orders", "people"),
        ("recent", "bump"),
        ("recent", "orders"),
        ("recent", "people"),
        ("tg", "orders"),
        ("tg", "audit"),
    } <= uses(facts)
    assert not {name for _, name in uses(facts)} & {"varchar", "numeric", "record", "int"}


def test_mysql_hash_comments_and_delimiters() -> None:
    facts = extract(MYSQL, "sql")
    assert outline(facts) == [
        ("table", "before_it", 1, 1),
        ("table", "after_one", 3, 3),
        ("procedure", "fill", 5, 12),
        ("procedure", "other", 13, 13),
        ("table", "last_one", 15, 15),
    ]
    assert {("fill", "after_one"), ("fill", "other")} <= uses(facts)


def test_oracle_packages_go_to_their_end_and_have_members() -> None:
    facts = extract(ORACLE, "sql")
    assert outline(facts) == [
        ("module", "pay", 1, 4),
        ("declaration", "pay.run", 2, 2),
        ("declaration", "pay.rate", 3, 3),
        ("module", "pay", 6, 20),
        ("function", "pay.rate", 7, 12),
        ("procedure", "pay.run", 14, 19),
        ("table", "staff", 22, 22),
        ("procedure", "lone", 23, 27),
    ]
    assert {("pay.run", "rate"), ("pay.run", "staff"), ("lone", "run")} <= uses(facts)


def test_sql_server_procedures_go_to_the_end_of_the_batch() -> None:
    facts = extract(TSQL, "sql")
    assert outline(facts) == [
        ("table", "Order Lines", 1, 1),
        ("procedure", "Fill", 3, 7),
        ("procedure", "Other", 9, 15),
    ]
    assert {("Fill", "Order Lines"), ("Fill", "Other"), ("Other", "Fresh")} <= uses(facts)


def test_sqlite_triggers_go_to_their_end() -> None:
    facts = extract(SQLITE, "sql")
    assert outline(facts) == [("table", "a", 2, 2), ("trigger", "t", 3, 6), ("view", "v", 7, 7)]
    assert {("t", "a"), ("v", "a")} <= uses(facts)


@pytest.mark.parametrize(
    "text", ["CREATE TABLE a (x int); -- it's\nCREATE TABLE b (y int);", "# it's\nCREATE TABLE b (y int);"]
)
def test_apostrophes_in_comments_swallow_nothing(text: str) -> None:
    assert outline(extract(text, "sql"))[-1][1] == "b"
