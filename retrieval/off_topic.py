"""Off-topic questions: what nobody asks of a program, so that similarity to them is what similarity by chance is."""

_THINGS = (
    "bread dough", "tomato plants", "a mountain bike", "the moon", "violin strings", "winter tyres",
    "a sourdough starter", "garden snails", "wedding flowers", "a kayak", "wool socks", "the roman empire",
    "goat cheese", "a chess opening", "volcanoes", "hay fever", "a puppy", "espresso", "old photographs", "a marathon",
    "blueberry muffins", "whales", "a sailing boat", "church bells", "piano lessons", "sunburn", "pumpkin soup",
    "a bird nest", "medieval castles", "olive trees", "hiking boots", "a campfire",
)  # fmt: skip
_QUESTIONS = (
    "how long should {} rest before noon",
    "why do people love {} in autumn",
    "what is the best price for {} at the market",
    "where did grandmother learn about {}",
)

OFF_TOPIC_QUESTIONS: tuple[str, ...] = tuple(question.format(thing) for thing in _THINGS for question in _QUESTIONS)
"""128 questions."""
