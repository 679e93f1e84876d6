; definitions; @name captures a declarator, from which the dialect unwraps the name

(function_definition type: (_)? @returns declarator: (_) @name body: (_) @body) @definition.function
(translation_unit (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)
(declaration_list (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)
(preproc_if (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)
(preproc_ifdef (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)
(preproc_else (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)
(preproc_elif (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)

(type_definition type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body)]
  declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition type: [(struct_specifier name: (_) @tag body: (_)) (union_specifier name: (_) @tag body: (_))
  (enum_specifier name: (_) @tag body: (_))] declarator: (type_identifier) @name @definition.type) @outer
(type_definition type: [(struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_))
  (enum_specifier name: (_) body: (_))] declarator: (pointer_declarator declarator: (type_identifier) @name @definition.type))
(type_definition type: [(struct_specifier !body) (union_specifier !body) (enum_specifier !body)] declarator: (_) @name) @definition.type
(type_definition type: [(primitive_type) (type_identifier) (sized_type_specifier)] declarator: (_) @name) @definition.type
(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(preproc_function_def name: (_) @name value: (_)? @body) @definition.macro
(preproc_def name: (_) @name value: (_)) @definition.constant

; references

(call_expression function: (identifier) @reference.call arguments: (argument_list) @arguments)
(call_expression function: (parenthesized_expression (identifier) @reference.call) arguments: (argument_list) @arguments)
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @reference.call)
  arguments: (argument_list) @arguments)
(argument_list (identifier) @reference.value)
(argument_list (pointer_expression argument: (identifier) @reference.value))
(initializer_list (identifier) @reference.value)
(initializer_pair value: (identifier) @reference.value)
(initializer_pair value: (pointer_expression argument: (identifier) @reference.value))
(init_declarator value: (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(assignment_expression right: (pointer_expression argument: (identifier) @reference.value))
(conditional_expression [(identifier)] @reference.value)
(return_statement (identifier) @reference.value)
(type_identifier) @reference.type

(preproc_include) @import
(comment) @comment
