; what C and C++ share

; definitions; the dialect finds the names inside the declarators

(function_definition type: (_)? @returns body: (_) @body) @definition.function
(translation_unit (declaration) @definition.variable)
(declaration_list (declaration) @definition.variable)
(preproc_if (declaration) @definition.variable)
(preproc_ifdef (declaration) @definition.variable)
(preproc_else (declaration) @definition.variable)
(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(type_definition) @definition.type
(preproc_def name: (_) @name value: (_)) @definition.constant
(preproc_function_def name: (_) @name) @definition.macro

; uses

(call_expression function: (identifier) @reference.call arguments: (argument_list) @arguments)
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @reference.call) arguments: (argument_list) @arguments)
(call_expression function: (parenthesized_expression (pointer_expression argument: (field_expression argument: (_) @receiver
  field: (field_identifier) @reference.call))) arguments: (argument_list) @arguments)
(type_identifier) @reference.type
(argument_list (identifier) @reference.value)
(pointer_expression argument: (identifier) @reference.value)
(initializer_list (identifier) @reference.value)
(initializer_pair value: (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(return_statement (identifier) @reference.value)

; types of local names

(declaration type: [(type_identifier) (struct_specifier)] @type declarator: [(identifier) @binding (pointer_declarator (identifier) @binding)
  (init_declarator declarator: [(identifier) @binding (pointer_declarator (identifier) @binding)])])
(parameter_declaration type: [(type_identifier) (struct_specifier)] @type
  declarator: [(identifier) @binding (pointer_declarator (identifier) @binding)])
(field_declaration type: [(type_identifier) (struct_specifier)] @type
  declarator: [(field_identifier) @binding (pointer_declarator (field_identifier) @binding)])

(preproc_include) @import
(comment) @comment
