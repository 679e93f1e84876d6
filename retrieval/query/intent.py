"""Query intent: how surely a text describes one function, and whether it quotes a message.

"Convert a row to bytes", "where are expired sessions removed" and "the number of chunks along each axis" describe one
function, "how does routing work" and "query parameters" the files about a subject, and "index must not be negative" is
the line that says so. A description deserves cards in the order of what each card says; a subject is better served by
the best files, one card each. Between them the share of either kind of weights changes step by step, so that no single
word turns the order over.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question is after."""

    function: float
    """How surely it describes one function, 0 to 1; 0 for a subject."""
    is_message: bool
    """Whether it reads like an error or a line of a log."""


SUBJECT = Intent(function=0.0, is_message=False)

_TRANSFER_WORDS = 4
_ACTION_WORDS, _ASKED_WORDS = 3, 2
"""Fewest words that are read as an action, alone ("load file" may be a name) and after "how to" and its like."""
_PASSIVE_WORDS = 10
"""Most words of "where is … removed" that ask for one place; longer ones describe a subject."""

_VERBS = frozenset(
    """
    abort accept access acquire activate add adjust advance aggregate align allocate allow analyze answer append
    apply approximate ask assemble assert assign attach attempt avoid batch bind block build cache calculate call
    cancel capture cast change check clamp clean clear clone close coerce collect combine commit compare compile
    compress compute concatenate configure connect construct consume convert copy count create deactivate deallocate
    decode decompress decorate decrypt deduce deduct define delay delete dequeue derive deserialize destroy detach
    detect determine disable discard discover dispatch display divide download draw drop dump emit emulate enable
    encapsulate enclose encode encrypt enqueue ensure enter escape estimate evaluate evict exclude execute exit
    expand expire export expose extend extract fetch fill filter finalize find finish fit fix flatten flush force
    fork format forward free gather generate get give group guess handle hash hide identify ignore implement import
    include increment infer initialize inject insert inspect install instantiate intercept interpolate invalidate
    invoke iterate join keep kill list listen load locate lock log look make manage map mark match measure merge
    modify mount move multiply mutate normalize notify obtain open organize overwrite pack pad parse partition pass
    patch pause peek perform pick poll pop populate position predict prepare prepend prevent print process produce
    provide prune publish purge push put query quote raise randomize read rebuild receive recognize recompute record
    redirect reduce refresh register reject release reload remove rename render reorder replace report reset resize
    resolve restart restore resume retrieve retry return reverse rewind rewrite roll rollback rotate round run
    sample sanitize save scale scan schedule search seek select send serialize set shift show shuffle shut sign
    simulate skip slice sniff solve sort spawn split start stop store stream strip subscribe subtract sum swap
    switch sync take terminate test throw toggle track transform translate traverse trigger trim truncate try turn
    unescape unlink unlock unmount unpack unquote unregister unset unsubscribe unwrap update upload use validate
    verify visit wait walk warn wrap write yield
    """.split()
)
_BRITISH = {verb.removesuffix("ize") + "ise" for verb in _VERBS if verb.endswith("ize")}
_ALSO_NOUNS = frozenset(
    """
    abort access advance answer ask batch block cache cancel capture cast change check clamp clear clone commit
    compress copy count cover delay derive dispatch display drop escape execute fetch filter fit fix flush force
    fork format group guess hash hide import install join list load lock log look map mark match merge mount move
    name open pack pad parse partition pass patch pause pick poll pop position process push query quote record
    redirect refresh release report reset restart retry rollback round sample scale scan schedule search seek select
    set shift sign skip slice sort spawn split start store stream switch sync take test toggle trigger try upload
    use wait walk
    """.split()
)
"""Verbs that are nouns of code as well: "query parameters" asks for a subject, "query the parameters" for an action."""
_ENDINGS = (("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z"), ("ies", "y"))

_word = re.compile(r"[a-z']+")
_asking = re.compile(
    r"^(?:please |(?:where is|find|show me|show) (?:the )?(?:code|function|method)s? (?:that |to |which )"
    r"|where (?:do|does) (?:we|it) |where to |(?:which|what) (?:function|method|code) |how (?:do|does) (?:we|it|i) |how to "
    r"|how is it done:? |(?:helper|utility)(?: function| method)? (?:to|that|for) |(?:function|method|code) (?:to|that) "
    r"|(?:what is )?used to |asynchronously |recursively |internal(?:ly)? |(?:try|tries|attempts?) to "
    r"|called (?:when|by|to) )+"
)
"""What stands before the verb where somebody asks for what is done."""
_passive = re.compile(
    r"^where (?:is|are) .*\b(?:\w+ed|sent|built|made|set|read|written|found|run|kept|put|thrown|caught)\b"
)
_object = re.compile(
    r"^(?:an?|the|this|that|these|all|any|each|every|whether|if|to|from|in|into|on|for|with|by|as|up|down|out|one|two|new"
    r"|given|its|it|them|their|our|your|some|only|at|when|until|(?:and|or) [a-z]+ (?:an?|the))(?![\w-])"
)
_conjunction = re.compile(r"^(?:and|or) ([a-z']+)")
_direction = re.compile(r" (?:from|into|to|as|by|using) ")
_determined = re.compile(r"(?<![\w-])(?:an?|the|all|from|to|given)(?![\w-])")

_complaint = re.compile(
    r"(?<![\w-])(?:must|cannot|can't|(?:could|can|do|does|did|is|are|was) ?n[o']t|not|invalid|fail(?:ed|s)?|expect(?:ed|s)"
    r"|unexpected|unknown|missing|unable|no|already|requires?|required|unsupported|only|should|illegal"
    r"|too (?:many|few|long|large|short|big|small|deep)|out of|at (?:least|most)|never|undefined|unrecogni[sz]ed"
    r"|deprecated|denied|refused|timed out|timeout|corrupt(?:ed)?|exceed(?:s|ed)?|bad|wrong|malformed|mismatch|empty|got"
    r"|please|ignor(?:ed|ing)|skipping|conflict(?:s|ing)?|ambiguous|duplicate)(?![\w-])"
)
"""Words of errors, warnings and log lines."""
_question_word = re.compile(r"^(?:how|where|what|which|why|when|who)\b")


_describing = re.compile(
    r"^(?:the|an?|this|whether|true|false|if|given|when|on|for|called|class ?method"
    r"|(?:helper|utility|convenience|wrapper) (?:function|method)|(?:shortcut|alias|wrapper) (?:for|of|to)"
    r"|optionally|same as|like|(?:number|list|tuple|dict|set|name) of)(?![\w-])"
)
"""How the description of one function begins where it begins with no verb: "the number of …", "whether …", "if …"."""
_stating = re.compile(
    r"(?<![\w-])(?:an?|the|this|these|its|each|all|any|every|we|you|it|is|are|was|has|have|will|can|should|if|that|which|whether"
    r"|given|returns?|used|one|than|must)(?![\w-])"
)
"""Words of sentences; what names a subject ("argument validation helpers and exception rules") has few of them."""
_DESCRIBED, _STATED, _LONG_SHARE, _PLAIN_SHARE = 1.0, 0.7, 0.2, 0.03
"""How surely a text describes one function: one that begins like that, a sentence, a text of many words, any other."""
_LONG_WORDS = 8


def intent_of(text: str) -> Intent:
    """Return what a question is after."""
    lowered = " ".join(text.lower().split())
    if _asks_for_action(lowered):
        return Intent(1.0, False)
    if _question_word.match(lowered):
        return Intent(0.0, False)
    # "number of items must be at least one" begins as a description does, and is none.
    is_message = bool(_complaint.search(lowered))
    return Intent(min(_description(lowered), _STATED if is_message else 1.0), is_message)


def _description(lowered: str) -> float:
    """Return how surely a text that is no question describes one function."""
    n_words = len(lowered.split())
    if n_words < _ACTION_WORDS:
        return 0.0
    if _describing.match(lowered):
        return _DESCRIBED
    if _stating.search(lowered) or _states_transfer(lowered):
        return _STATED
    return _LONG_SHARE if n_words >= _LONG_WORDS else _PLAIN_SHARE


def _states_transfer(lowered: str) -> bool:
    """Return whether a text is one like "copy single file to remote": a verb, though it may be a noun, and a direction."""
    first = _word.match(lowered)
    if (
        first is None
        or len(lowered.split()) < _TRANSFER_WORDS
        or lowered[first.end() :].startswith(("-", "_", ".", "("))
    ):
        return False
    return bool(_base_forms(first[0])) and bool(_direction.search(lowered))


def _asks_for_action(lowered: str) -> bool:
    rest = _asking.sub("", lowered)
    first = _word.match(rest)
    verbs = _base_forms(first[0]) if first else frozenset()
    least = _ACTION_WORDS if rest == lowered else _ASKED_WORDS
    if first is None or not verbs or len(rest.split()) < least:
        return len(lowered.split()) <= _PASSIVE_WORDS and bool(_passive.match(lowered))
    after = rest[first.end() :]
    if after.startswith(("-", "_", ".", "(")):
        return False
    if rest != lowered:
        return True
    after = after.strip()
    if second := _conjunction.match(after):
        return bool(_base_forms(second[1])) and bool(_determined.search(after))
    return not verbs & _ALSO_NOUNS or bool(_object.match(after))


def _base_forms(word: str) -> frozenset[str]:
    """Return the verbs that a word may be: "returns" → return; none for other words."""
    forms = {word}
    ending = next(((old, new) for old, new in _ENDINGS if word.endswith(old)), None)
    if ending is not None:
        forms = {word.removesuffix(ending[0]) + ending[1]}
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.add(word.removesuffix("s"))
    return frozenset(forms) & (_VERBS | _BRITISH)
