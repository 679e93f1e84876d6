; an element that starts with a capital letter is a call of its component

((jsx_opening_element name: (identifier) @reference.call) (#match? @reference.call "^[A-Z]"))
(jsx_opening_element name: (member_expression object: (_) @receiver property: (_) @reference.call))
((jsx_self_closing_element name: (identifier) @reference.call) (#match? @reference.call "^[A-Z]"))
(jsx_self_closing_element name: (member_expression object: (_) @receiver property: (_) @reference.call))
(jsx_expression (identifier) @reference.value)
(jsx_expression (member_expression object: (_) @receiver property: (_) @reference.value))
