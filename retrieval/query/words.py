"""Query words: which words of a question say nothing, and which words programmers write in two ways."""

from collections import defaultdict

from codecards.indexer.cards.words import stem

STOP_WORDS = frozenset(
    """
    a an and are as at be been being but by can could did do does doing done for from had has have having how i if
    in into is it its itself just let me more most my no nor not of off on or our out over own please s same shall
    she should show so some such t than that the their them then there these they this those through to too under
    until up us very was we were what when where whether which while who whom whose why will with within without
    would you your use uses used using given across about work works tell explain describe happen happens place
    places does find look looking code codebase implemented implementation implement implements defined handled
    """.split()
)
"""English function words, question words, and verbs that people ask about code with."""

SOFT_STOP_WORDS = frozenset(
    "implemented implementation implement implements defined handled code codebase find show place places".split()
)
"""Stop words that are words of code too: dropped from a question of several words only where others remain."""

REPORT_STOP_WORDS = STOP_WORDS | frozenset(
    """
    actual actually also behavior behaviour bug bugs currently describe details expect expected expecting feel hello
    hi issue issues minimal observed occurs possible please propose proposed reproduce reproduced reproducible
    reproducing reproduction screenshot screenshots seem seems something suggestion thank thanks think want
    workaround
    """.split()
)
"""Stop words of a report: also what people say in one whatever it is about."""

FORM_WORDS = REPORT_STOP_WORDS | frozenset(
    """
    additional context current description environment example examples feature following information mcve motivation
    problem question report request result results sample snippet solution step steps summary version versions
    """.split()
)
"""Words of the headings that the form of a report brings along."""

PREPOSITIONS = frozenset(
    "for from in into of on to with by via and or when while at during across between through".split()
)

STOP_PAIRS = frozenset(
    "怎么 如何 哪里 在哪 什么 为什 为何 是否 这个 那个 哪个 哪些 可以 是在 里的 请问"
    " なに どこ です ます でき する した して 어디 어떻 무엇".split()
)
"""Pairs of characters that ask and do not say what about."""
STOP_CHARACTERS = frozenset(
    "的了吗呢么吧啊在是和与或把被の は が を に で と も か 의 를 을 이 가 은 는 에".replace(" ", "")
)
"""A pair with one of these weighs less: it spans a word's end."""

_ABBREVIATIONS = """
addr address; alloc allocate; app application; arg argument; args arguments; async asynchronous; attr attribute;
auth authentication; auth authorization; authn authentication; authz authorization; avg average; bg background;
bin binary; btn button; buf buffer; calc calculate; cb callback; cert certificate; cfg config; cfg
configuration; char character; cls class; cmd command; cmp compare; coll collection; col column; comm
communication; conf config; conf configuration; config configuration; conn connection; const constant; ctl
control; ctrl control; ctrl controller; ctx context; cur current; curr current; db database; dec decimal; decl
declaration; def definition; deps dependencies; desc description; dest destination; dev development; dict
dictionary; diff difference; dir directory; dir folder; dispatch dispatcher; dist distribution; doc document;
dst destination; elem element; env environment; err error; eval evaluate; evt event; exc exception; exec
execute; expr expression; ext extension; fmt format; fn function; freq frequency; fs filesystem; func function;
gen generate; hdr header; id identifier; idx index; img image; impl implementation; info information; init
initialize; init initialization; int integer; iter iterator; jwt token; kwarg keyword; lang language; len
length; lib library; loc location; lvl level; max maximum; mem memory; mgr manager; min minimum; misc
miscellaneous; mod module; msg message; mtx mutex; net network; num number; obj object; op operation; opt
option; opts options; org organization; param parameter; perf performance; perm permission; pkg package; pos
position; pred predicate; pref preference; prev previous; priv private; proc process; prod production; prop
property; proto protocol; ptr pointer; pub public; pwd password; qty quantity; rand random; recv receive; ref
reference; reg register; regex regular; rel relative; repo repository; req request; res response; resp response;
ret return; rgx regex; sched schedule; sched scheduler; sec second; sem semaphore; sep separator; seq sequence;
sess session; sig signature; spec specification; src source; srv server; stat status; stats statistics; std
standard; stmt statement; str string; struct structure; sub subscribe; sum summary; svc service; sync
synchronize; sys system; tbl table; temp temporary; tmp temporary; tok token; ts timestamp; tx transaction; txn
transaction; txt text; typ type; util utility; val value; var variable; vec vector; ver version; vm machine; win
window; ws websocket; xform transform; delete remove; ssl tls; mutex lock; login signin; ui interface; cpu
processor; hash digest
"""

_IRREGULAR = """
begin began begun; bind bound; break broke broken; build built; catch caught; choose chose chosen; draw drew drawn; feed
fed; freeze froze frozen; grow grown; hide hid hidden; hold held; lose lost; overwrite overwritten; rebuild rebuilt;
send sent; shrink shrunk; spin spun; throw threw thrown; undo undone; unwind unwound; wake woken; withdraw withdrawn;
write wrote written
"""
"""Verbs whose other forms no stemmer finds; without those that say little, as make and take do."""


def _pairs() -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for forms in _IRREGULAR.replace("\n", " ").split(";"):
        verb, *others = (stem(word) for word in forms.split())
        for other in others:
            found[other][verb] = None
    for pair in _ABBREVIATIONS.replace("\n", " ").split(";"):
        short, long = (stem(word) for word in pair.split())
        if short != long:
            found[short][long] = None
            found[long][short] = None
    return {word: tuple(others) for word, others in found.items()}


ABBREVIATIONS = _pairs()
"""Stem → stems that mean the same, in both directions."""

_OPPOSITES = """
read reader reading, write writer writing; encode encoder encoding, decode decoder decoding; serialize serializer
serialization, deserialize deserializer deserialization; marshal marshaler, unmarshal unmarshaler; client, server;
request, response; import importer, export exporter; input, output; load loader, save saver dump; compress compressor
compression, decompress decompressor decompression; encrypt encryption, decrypt decryption; upload, download; send
sender, receive receiver; producer, consumer; publisher, subscriber; inbound, outbound; push, pull pop; pack, unpack;
source, sink; escape, unescape; install installer, uninstall uninstaller
"""
"""Pairs of roles, each with its words: a path that has one of them is not what a question about the other is after."""


def _roles() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for pair in _OPPOSITES.split(";"):
        first, second = (frozenset(map(stem, side.split())) for side in pair.split(","))
        found |= dict.fromkeys(first - second, (first - second, second - first))
        found |= dict.fromkeys(second - first, (second - first, first - second))
    return found


OPPOSITES = _roles()
"""Stem → stems of the same role, stems of the opposite one."""
