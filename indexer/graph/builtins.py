"""Common names: what a name alone says nothing about, and how each language's names reach over files."""

BUILTIN_METHODS = frozenset(
    """
    append capitalize casefold center charAt charCodeAt clear codePointAt concat copy count decode difference
    discard encode endswith endsWith ends_with entries expandtabs extend filter find findIndex flat flatMap forEach
    format format_map fromkeys get getOrDefault has hasOwnProperty index indexOf insert intersection into_iter
    isalnum isalpha isdigit isEmpty is_empty islower isoformat isspace issubset issuperset istitle isupper items
    iter join keys lastIndexOf len length ljust localeCompare lower lstrip map match mode padEnd padStart partition
    pop popitem push put read readline readlines reduce remove removeprefix removesuffix repeat replace reverse
    rfind rindex rjust rpartition rsplit rstrip seek set setdefault shift size slice some sort splice split
    splitlines startswith startsWith starts_with strip substring subSequence swapcase symmetric_difference tell test
    then title toFixed toLowerCase toString toUpperCase to_owned to_s to_string to_sym to_a to_i translate trim
    truncate union unshift unwrap update upper valueOf values write writelines zfill each each_with_index select
    collect inject is_some is_none ok expect clone as_ref as_str push_back emplace_back begin end hashCode equals
    contains containsKey add addAll ToString Equals GetHashCode GetType Add Remove Contains Count First Last Where
    Select Any All ToList ToArray putAll stream toArray getClass name
    """.split()
)
"""Methods of the languages' own strings, lists, maps and files: on an unknown receiver they say nothing."""

COMMON_NAMES = BUILTIN_METHODS | frozenset(
    """
    accept all any apply assign back bind build call cancel catch close collect commit compare compile connect
    create data default delete describe destroy disconnect dispatch done empty entry error every exec execute exists
    exit extract fetch field fields fill finish first flush fold from front getValue group handle hash head help id
    include includes info init invoke keys label last line lines list listen load lock log main make max merge
    message min next node notify now of on open options parse path peek ping post print process query raise ready
    receive record register release render report request reset resolve respond response result return rollback root
    run save schedule search send setup shape show shutdown skip source start state status step stop sub submit
    subscribe sum swap sync tail take tearDown text throw tick token top type unlock url use user validate value
    verify view visit wait warn when with wrap yield setUp debug warning exception critical fatal sleep
    """.split()
)
"""Names that all libraries use: on an unknown receiver a repository's method of that name is only `possible`."""

OUTSIDE_ROOTS = frozenset(
    """
    std boost absl fmt console Math JSON Object Array Promise Number String Boolean Date RegExp Symbol Reflect Map
    Set document window process globalThis Buffer Intl Error navigator localStorage core alloc self_cell
    """.split()
)
"""First words of chains that no repository defines unless a scope says so."""

PYTHON_BUILTINS = frozenset(
    """
    abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex
    delattr dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash help hex
    id input int isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow
    print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
    __import__
    """.split()
)
BUILTIN_FUNCTIONS = PYTHON_BUILTINS | frozenset(
    """
    append cap clear close copy delete len make max min new panic print println recover parseInt parseFloat isNaN
    isFinite require setTimeout setInterval clearTimeout clearInterval fetch alert structuredClone queueMicrotask
    encodeURIComponent decodeURIComponent encodeURI decodeURI eval super Some None Ok Err Box Vec String drop sizeof
    printf malloc free memcpy memset strlen puts raise require_relative attr_reader attr_writer attr_accessor lambda
    proc loop include extend echo isset unset empty count array exit die listOf mutableListOf mapOf setOf let also
    apply run
    """.split()
)
"""What the languages bring along; a bare call of one is no evidence for a repository's function of that name."""

C_LIBRARY = frozenset(
    """
    abort abs accept access assert atoi atol bind bsearch calloc clock close connect dup exit fclose fcntl fdopen ferror
    fflush fgets fopen fork fprintf fputs fread free fseek ftell fwrite getenv getpid ioctl isalnum isalpha isdigit isspace
    kill listen localtime lseek malloc memchr memcmp memcpy memmove memset mmap munmap open perror pipe poll printf
    pthread_create pthread_join putchar puts qsort raise rand read realloc recv rename select send signal sleep snprintf
    socket sprintf sscanf stat strcasecmp strcat strchr strcmp strcpy strdup strerror strlen strncmp strncpy strrchr strstr
    strtod strtol strtoul tolower toupper unlink usleep vsnprintf wait waitpid write
    """.split()
)
"""Functions of C's own headers: a repository's of that name is meant only where an include brings it in."""
