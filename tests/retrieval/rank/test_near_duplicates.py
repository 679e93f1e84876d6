"""Files of one name that define much the same: the best of them stands for the others."""

from pathlib import Path

import pytest

from codecards.retrieval.hits import Ranking
from codecards.retrieval.rank.weights import SHORT
from tests.support.indexed_text import indexed

COPIES = """
#- src/full/schemas.ts
/** Builds the union of schemas, an optional schema, a record schema: unions and records of every schema. */
export function union() { return new Union(); }
export function optional() { return new Optional(); }
export function record() { return new RecordSchema(); }
#- src/mini/schemas.ts
/** Builds the union of schemas. */
export function union() { return new Union(); }
export function optional() { return new Optional(); }
export function record() { return new RecordSchema(); }
export function lazy() { return new Lazy(); }
#- src/core/builders.ts
/** Builds the union. */
export function unionOf() { return 1; }
"""
SIGNS = """
#- src/full/schemas.ts
/** Union of schemas: unions, schemas of unions. */
export class ZodUnion { schemas() {} }
export class ZodOptional { schemas() {} }
export class ZodRecord { schemas() {} }
#- src/core/schemas.ts
/** Union of schemas. */
export class $ZodUnion {}
export class $ZodOptional {}
export class $ZodRecord {}
"""
PARTS = """
#- src/union.core.ts
/** Union of schemas: unions, schemas of unions. */
export function union() { return 1; }
export function optional() { return 1; }
export function record() { return 1; }
#- src/union.async.ts
/** Union of schemas. */
export function union() { return 2; }
export function optional() { return 2; }
export function record() { return 2; }
"""
OTHERS = """
#- src/unions/models.py
\"\"\"Unions and schemas of unions.\"\"\"
class Union: ...
class UnionMember: ...
class UnionSchema: ...
#- src/records/models.py
\"\"\"Schemas in a union.\"\"\"
class Record: ...
class RecordField: ...
class RecordSchema: ...
"""


PLUGINS = "".join(
    f"""
#- src/plugins/{name}/view.py
\"\"\"The view of {name}: schemas of unions.\"\"\"
def render_schema(): ...
def union_of_schemas(): ...
def load_model(): ...
"""
    for name in ("alpha", "beta", "gamma", "delta", "epsilon")
)


def copies(answer: Ranking) -> dict[str, float]:
    """Return path → what a file loses to a better copy, for those that lose something."""
    return {hit.card.path: term.value for hit in answer.hits for term in hit.terms if term.name == "duplicate"}


def test_a_copy_loses_the_share_of_its_names_that_the_better_one_has(tmp_path: Path) -> None:
    answer = indexed(tmp_path, COPIES).ask("union of schemas")
    assert answer.hits[0].card.path == "src/full/schemas.ts"
    assert copies(answer) == {"src/mini/schemas.ts": pytest.approx(SHORT["duplicate"], rel=0.05)}


def test_what_is_no_copy_comes_before_the_second_of_two_copies(tmp_path: Path) -> None:
    assert list(dict.fromkeys(indexed(tmp_path, COPIES).paths("union builders schemas")))[1] == "src/core/builders.ts"


def test_a_sign_before_a_name_makes_no_other_name(tmp_path: Path) -> None:
    assert list(copies(indexed(tmp_path, SIGNS).ask("union of schemas"))) == ["src/core/schemas.ts"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param(PARTS, "union of schemas", id="files_of_one_folder_are_parts"),
        pytest.param(OTHERS, "union of schemas", id="files_of_one_name_with_other_definitions"),
        pytest.param(PLUGINS, "union of schemas", id="one_of_many_plugins"),
        pytest.param(COPIES, "union", id="a_name_is_wanted_wherever_it_is_defined"),
    ],
)
def test_these_are_no_copies(tmp_path: Path, text: str, query: str) -> None:
    answer = indexed(tmp_path, text).ask(query)
    assert len({hit.card.path for hit in answer.hits}) > 1
    assert not copies(answer)
