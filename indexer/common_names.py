"""Common names: what a name alone says nothing about, and which languages reach names without naming where they are."""

IMPLICIT_SELF = frozenset({"java", "kotlin", "scala", "csharp", "cpp", "swift", "ruby"})
"""Languages in which a method calls another of its type without `self`."""
UNIT_LANGUAGES = frozenset({"swift", "bash", "elixir"})
"""Languages whose files see each other's top-level names without an import."""
GLOBAL_LANGUAGES = frozenset({"c", "cpp", "swift", "ruby", "php", "bash", "lua", "sql", "csharp", "zig", "haskell", "elixir"})
"""Languages in which a bare name may come from another file without an import that names it."""

COMMON_NAMES = frozenset(
    """
    add all any append apply apply_async assign at back begin bind build call cancel capitalize catch charAt clear clone close
    collect commit compare compile concat contains copy count create cwd data decode default delete describe destroy each
    empty encode end endsWith entries entry equals error every exec execute exists exit expect extend fetch fields fill filter
    find first flat flatten flush fold for_each forEach format from front get getValue get_or_create group handle has hash hashCode
    head id includes index indexOf info init insert invoke is_empty isEmpty items iter join keys last len length lines list
    load lock log lower lowerCase main make map match max merge message min name new next next_ now of on open options parse path
    peek ping pop post print process push put query raise read readLine ready receive reduce register release remove render
    replace request reset resolve response result return reverse rollback run save schedule search select send set setdefault
    setUp setup shift show size skip slice sort split splice start startsWith state status stop strip sub submit substring sum swap
    tail take tearDown test then throw title toString to_s to_string trim type unlock unwrap update upper use validate value valueOf
    values visit wait warn when with wrap write yield
    """.split()
)
"""Method names of the languages' own types and of most libraries: a repository's method of that name is only `possible`."""
