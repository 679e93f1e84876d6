"""Files of one name that define much the same are lowered, except the best of them."""

from pathlib import Path

import pytest

from codecards.retrieval.hits import Ranking
from codecards.retrieval.rank.file_signals import SHORT
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


def duplicates(answer: Ranking) -> dict[str, float]:
    """Return path → penalty of the files that are lowered."""
    return {hit.card.path: term.value for hit in answer.hits for term in hit.terms if term.name == "duplicate"}


def test_a_duplicate_loses_by_its_overlap_with_the_better_file(tmp_path: Path) -> None:
    answer = indexed(tmp_path, COPIES).ask("union of schemas")
    assert answer.hits[0].card.path == "src/full/schemas.ts"
    assert duplicates(answer) == {"src/mini/schemas.ts": pytest.approx(SHORT["duplicate"], rel=0.05)}


def test_another_file_comes_before_the_second_of_two_duplicates(tmp_path: Path) -> None:
    assert list(dict.fromkeys(indexed(tmp_path, COPIES).paths("union builders schemas")))[1] == "src/core/builders.ts"


def test_sigils_of_names_are_ignored(tmp_path: Path) -> None:
    assert list(duplicates(indexed(tmp_path, SIGNS).ask("union of schemas"))) == ["src/core/schemas.ts"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param(PARTS, "union of schemas", id="files_of_one_folder_are_parts"),
        pytest.param(OTHERS, "union of schemas", id="files_of_one_name_with_other_definitions"),
        pytest.param(PLUGINS, "union of schemas", id="one_of_many_plugins"),
        pytest.param(COPIES, "union", id="a_name_is_wanted_wherever_it_is_defined"),
    ],
)
def test_these_are_not_duplicates(tmp_path: Path, text: str, query: str) -> None:
    answer = indexed(tmp_path, text).ask(query)
    assert len({hit.card.path for hit in answer.hits}) > 1
    assert not duplicates(answer)
