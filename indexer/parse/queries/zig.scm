; definitions; a type is the value of a constant

(function_declaration name: (identifier) @name type: (_)? @returns body: (_) @body) @definition.function
(function_declaration name: (identifier) @name type: (_)? @returns !body) @definition.declaration
(variable_declaration . (identifier) @name [(struct_declaration) (opaque_declaration) (union_declaration)] @body) @definition.struct
(variable_declaration . (identifier) @name [(enum_declaration) (error_set_declaration)] @body) @definition.enum
(source_file (variable_declaration . (identifier) @name) @definition.variable)
(struct_declaration (variable_declaration . (identifier) @name) @definition.variable)
(union_declaration (variable_declaration . (identifier) @name) @definition.variable)
(enum_declaration (variable_declaration . (identifier) @name) @definition.variable)
(test_declaration [(string (string_content) @name) (identifier) @name] (block) @body) @definition.function

; references

(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression object: (_) @receiver member: (identifier) @reference.call))
(struct_initializer . (identifier) @reference.construct)
(struct_initializer . (field_expression object: (_) @receiver member: (identifier) @reference.construct))
(call_expression function: (_) (identifier) @reference.value)
(call_expression function: (_) (field_expression object: (_) @receiver member: (identifier) @reference.value))
(parameter type: (identifier) @reference.type)
(parameter type: (field_expression object: (_) @receiver member: (identifier) @reference.type))
(container_field type: (identifier) @reference.type)
(container_field type: (field_expression object: (_) @receiver member: (identifier) @reference.type))
(variable_declaration type: (identifier) @reference.type)
(function_declaration type: (identifier) @reference.type)
(pointer_type (identifier) @reference.type)
(slice_type (identifier) @reference.type)
(nullable_type (identifier) @reference.type)
(error_union_type ok: (identifier) @reference.type)

; bindings: types of local names

(parameter name: (identifier) @binding type: (_) @type)
(container_field name: (identifier) @binding type: (_) @type)
(variable_declaration . (identifier) @binding type: (_) @type)
(variable_declaration . (identifier) @binding . (call_expression function: [(identifier) (field_expression)] @result))
(variable_declaration . (identifier) @binding . (try_expression (call_expression function: [(identifier) (field_expression)] @result)))
(variable_declaration . (identifier) @binding . (struct_initializer . (_) @type))
(variable_declaration . (identifier) @binding . [(identifier) (field_expression)] @same)

((builtin_function (builtin_identifier) @_import) @import (#eq? @_import "@import"))
(comment) @comment
