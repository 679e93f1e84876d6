; definitions

(function_item name: (_) @name return_type: (_)? @returns body: (_) @body) @definition.function
(function_signature_item name: (_) @name return_type: (_)? @returns) @definition.function
(struct_item name: (_) @name body: (_)? @body) @definition.struct
(union_item name: (_) @name body: (_) @body) @definition.struct
(enum_item name: (_) @name body: (_) @body) @definition.enum
(trait_item name: (_) @name bounds: (_)? @bases body: (_) @body) @definition.trait
(impl_item trait: (_)? @base type: (_) @name body: (_) @body) @definition.impl
(mod_item name: (_) @name body: (_) @body) @definition.module
(macro_definition name: (_) @name . (macro_rule)? @body) @definition.macro
(type_item name: (_) @name) @definition.type
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name) @definition.variable
(attribute_item) @attribute

; references

(call_expression function: (identifier) @reference.call arguments: (arguments) @arguments)
(call_expression function: (field_expression value: (_) @receiver field: (_) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (scoped_identifier path: (_)? @receiver name: (_) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (generic_function function: (identifier) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (_) @reference.call))
  arguments: (arguments) @arguments)
(call_expression function: (generic_function function: (scoped_identifier path: (_)? @receiver name: (_) @reference.call))
  arguments: (arguments) @arguments)
(macro_invocation macro: (identifier) @reference.macro)
(macro_invocation macro: (scoped_identifier path: (_)? @receiver name: (_) @reference.macro))
(token_tree (identifier) @reference.call @tokens . (token_tree))
(struct_expression name: (type_identifier) @reference.construct)
(struct_expression name: (scoped_type_identifier path: (_)? @receiver name: (_) @reference.construct))
(struct_expression name: (generic_type_with_turbofish type: (type_identifier) @reference.construct))
(impl_item trait: (type_identifier) @reference.inherit)
(impl_item trait: (generic_type type: (type_identifier) @reference.inherit))
(impl_item trait: (scoped_type_identifier path: (_)? @receiver name: (_) @reference.inherit))
(impl_item trait: (generic_type type: (scoped_type_identifier path: (_)? @receiver name: (_) @reference.inherit)))
(trait_item bounds: (trait_bounds (type_identifier) @reference.inherit))
(attribute (identifier) @reference.macro)
(scoped_type_identifier path: (_) @receiver name: (_) @reference.type)
(type_identifier) @reference.type
(arguments (identifier) @reference.value)
(arguments (scoped_identifier path: (_) @receiver name: (_) @reference.value))
(field_initializer value: (identifier) @reference.value)

; bindings: types of local names

(parameter pattern: (identifier) @binding type: (_) @type)
(parameter pattern: (mut_pattern (identifier) @binding) type: (_) @type)
(field_declaration name: (_) @binding type: (_) @type)
(static_item name: (_) @binding type: (_) @type)
(const_item name: (_) @binding type: (_) @type)
(let_declaration pattern: (identifier) @binding type: (_) @type)
(let_declaration pattern: (identifier) @binding !type value: (call_expression function: (_) @result))
(let_declaration pattern: (identifier) @binding !type value: (try_expression (call_expression function: (_) @result)))
(let_declaration pattern: (identifier) @binding !type value: (await_expression (call_expression function: (_) @result)))
(let_declaration pattern: (identifier) @binding !type value: (try_expression (await_expression (call_expression function: (_) @result))))
(let_declaration pattern: (identifier) @binding !type value: (struct_expression name: (_) @type))
(let_declaration pattern: (identifier) @binding !type value: (reference_expression value: (struct_expression name: (_) @type)))
(let_declaration pattern: (identifier) @binding !type value: (reference_expression value: [(identifier) (field_expression)] @same))
(let_declaration pattern: (identifier) @binding !type value: [(identifier) (field_expression)] @same)

(use_declaration) @import
(extern_crate_declaration) @import
[(line_comment) (block_comment)] @comment
