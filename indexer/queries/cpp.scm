; definitions

(class_specifier name: (_) @name body: (_) @body) @definition.class
(class_specifier name: (_) @name (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)) @definition.class
(struct_specifier name: (_) @name (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)) @definition.struct
(namespace_definition name: (_) @name body: (_) @body) @definition.namespace
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.type
(function_definition type: (_)? @returns (default_method_clause)) @definition.function
(function_definition type: (_)? @returns (delete_method_clause)) @definition.function
(function_definition type: (_)? @returns (try_statement) @body) @definition.function
(field_declaration_list (field_declaration) @definition.declaration)
(field_declaration_list (declaration) @definition.declaration)
(template_declaration (declaration) @definition.declaration)
(template_declaration) @outer

; uses

(call_expression function: (qualified_identifier) @reference.call arguments: (argument_list) @arguments)
(call_expression function: (template_function name: (identifier) @reference.call) arguments: (argument_list) @arguments)
(call_expression function: (field_expression argument: (_) @receiver field: (template_method name: (_) @reference.call)) arguments: (argument_list) @arguments)
(call_expression function: (field_expression argument: (_) @receiver field: (dependent_name) @reference.call) arguments: (argument_list) @arguments)
(new_expression type: (type_identifier) @reference.construct arguments: (argument_list)? @arguments)
(new_expression type: (qualified_identifier) @reference.construct arguments: (argument_list)? @arguments)
(new_expression type: (template_type name: (type_identifier) @reference.construct) arguments: (argument_list)? @arguments)
(compound_literal_expression type: (type_identifier) @reference.construct)
(base_class_clause (type_identifier) @reference.inherit)
(base_class_clause (qualified_identifier) @reference.inherit)
(base_class_clause (template_type name: (type_identifier) @reference.inherit))
(pointer_expression argument: (qualified_identifier) @reference.value @sure)
(argument_list (qualified_identifier) @reference.value)
(parameter_declaration type: (qualified_identifier) @reference.type)
(declaration type: (qualified_identifier) @reference.type)
(field_declaration type: (qualified_identifier) @reference.type)

; types of local names

(declaration type: [(type_identifier) (struct_specifier)] @type
  declarator: (init_declarator declarator: (reference_declarator (identifier) @binding)))
(declaration type: [(qualified_identifier) (template_type)] @type declarator: [(identifier) @binding (pointer_declarator (identifier) @binding)
  (init_declarator declarator: [(identifier) @binding (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)])])
(declaration type: (placeholder_type_specifier) declarator: (init_declarator
  declarator: [(identifier) @binding (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)]
  value: [(call_expression) (new_expression) (identifier) (field_expression)] @value))
(parameter_declaration type: [(qualified_identifier) (template_type)] @type
  declarator: [(identifier) @binding (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)])
(parameter_declaration type: (type_identifier) @type declarator: (reference_declarator (identifier) @binding))
(field_declaration type: [(qualified_identifier) (template_type)] @type
  declarator: [(field_identifier) @binding (pointer_declarator (field_identifier) @binding) (reference_declarator (field_identifier) @binding)])
(field_declaration type: (type_identifier) @type declarator: (reference_declarator (field_identifier) @binding))
(for_range_loop type: [(type_identifier) (qualified_identifier) (template_type)] @type
  declarator: [(identifier) @binding (reference_declarator (identifier) @binding) (pointer_declarator (identifier) @binding)])

(using_declaration) @import
