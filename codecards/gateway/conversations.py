"""Remembers the conversations that pass a gateway, so that each keeps a stable beginning from request to request."""

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from codecards.gateway.formats import ReadRequest, WireFormat
from codecards.router.policy.prices import PRICES, Prices
from codecards.router.transcript.parts import PartKind
from codecards.router.transcript.rewrite import RewriteSettings, Rewriting, TranscriptRewriter

MAX_CONVERSATIONS = 256


@dataclass(slots=True)
class Conversation:
    """One growing transcript."""

    rewriter: TranscriptRewriter
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class RewrittenRequest:
    """A request's transcript as the model will see it, with its price."""

    rewriting: Rewriting
    price: float
    """Input-token equivalents with prompt caching, as it is sent."""
    whole_price: float
    """The same, had it been sent as it came."""


class Conversations:
    """The latest conversations; safe for several threads."""

    def __init__(self, prices: Prices | None = None) -> None:
        """Take the prices that hold for every provider, None for those of `PRICES`."""
        self._prices = prices
        self._known: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = threading.Lock()

    def rewrite(self, wire: WireFormat, request: ReadRequest) -> RewrittenRequest:
        """Return how a request's transcript is to be seen; requests of one conversation are taken one by one."""
        prices = self._prices or PRICES[wire.provider]
        conversation = self._conversation(wire, request, prices)
        with conversation.lock:
            done = conversation.rewriter.rewrite(request.parts)
        price = prices.read * done.same_tokens + prices.write * (done.tokens - done.same_tokens)
        whole_price = prices.read * done.whole_same_tokens + prices.write * (done.whole_tokens - done.whole_same_tokens)
        return RewrittenRequest(done, price, whole_price)

    def _conversation(self, wire: WireFormat, request: ReadRequest, prices: Prices) -> Conversation:
        key = f"{wire.name}:{_conversation_key(request)}"
        with self._lock:
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = Conversation(TranscriptRewriter(RewriteSettings(prices=prices)))
            self._known.move_to_end(key)
            while len(self._known) > MAX_CONVERSATIONS:
                self._known.popitem(last=False)
        return known


def _conversation_key(request: ReadRequest) -> str:
    """Return what tells a conversation from others: all that was said before the model's first word."""
    digest = hashlib.blake2b(digest_size=12)
    for part in request.parts:
        if part.kind is not PartKind.PROMPT:
            break
        digest.update(part.text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
