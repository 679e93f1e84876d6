"""Signatures give the names that a definition binds and the number of arguments that it accepts."""

import pytest

from codecards.indexer.graph.parameters import ANY_NUMBER, read_parameters


@pytest.mark.parametrize(
    ("signature", "name", "language", "names", "least", "most"),
    [
        ("def f(self, a, b: int = 3)", "f", "python", "a b", 1, 2),
        ("def f(a, *rest, key=None, **more)", "f", "python", "a rest key more", 1, ANY_NUMBER),
        ("def f(a: dict[str, int], /, *, b)", "f", "python", "a b", 2, 2),
        ("func (s *Stack[T]) Push(v T, more ...int)", "Push", "go", "v more", 1, ANY_NUMBER),
        ("int put(const char *key, std::map<int, int> &m)", "put", "cpp", "key m", 2, 2),
        ("int main(void)", "main", "c", "", 0, 0),
        ("fn area(&mut self, w: f64) -> f64", "area", "rust", "w", 1, 1),
        ("add(item: string, zone?: string): void", "add", "typescript", "item zone", 1, 2),
        ("function f({ a, b }, [c])", "f", "javascript", "a b c", 0, ANY_NUMBER),
        ("class A", "A", "python", "", 0, ANY_NUMBER),
    ],
)
def test_signatures_are_read(signature: str, name: str, language: str, names: str, least: int, most: int) -> None:
    found = read_parameters(signature, name, language)
    assert (found.names, found.least, found.most) == (frozenset(names.split()), least, most)


def test_an_unknown_number_of_arguments_always_fits() -> None:
    assert read_parameters("def f(a)", "f", "python").fit(-1)
    assert not read_parameters("def f(a)", "f", "python").fit(2)
