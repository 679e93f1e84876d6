; C++, in addition to c.scm

(template_declaration) @outer
(namespace_definition name: (_) @name body: (_) @body) @definition.namespace
(class_specifier name: (_) @name (base_class_clause)? @bases body: (_) @body) @definition.class
(struct_specifier name: (_) @name (base_class_clause) @bases body: (_) @body) @definition.struct
(function_definition declarator: (_) @name (try_statement) @body) @definition.function
(function_definition declarator: (_) @name [(default_method_clause) (delete_method_clause)]) @definition.declaration
(field_declaration_list (field_declaration type: (_)? @returns declarator: (_) @name) @definition.field)
(field_declaration_list (declaration declarator: (_) @name) @definition.field)
(field_declaration_list (template_declaration (declaration declarator: (_) @name) @definition.field))
(template_declaration (declaration type: (_)? @returns declarator: (_) @name) @definition.variable)
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.type
(translation_unit (expression_statement (call_expression function: (identifier) @macro arguments: (argument_list . (string_literal) @name)))
  @definition.function . (compound_statement) @block)
(declaration_list (expression_statement (call_expression function: (identifier) @macro arguments: (argument_list . (string_literal) @name)))
  @definition.function . (compound_statement) @block)

(call_expression function: (template_function name: (identifier) @reference.call) arguments: (argument_list) @arguments)
(call_expression function: (field_expression argument: (_) @receiver field: (template_method name: (_) @reference.call))
  arguments: (argument_list) @arguments)
(call_expression function: (field_expression argument: (_) @receiver field: (dependent_name (template_method name: (_) @reference.call)))
  arguments: (argument_list) @arguments)
(call_expression function: (qualified_identifier) @reference.call @qualified arguments: (argument_list) @arguments)
(new_expression type: (type_identifier) @reference.construct arguments: (argument_list)? @arguments)
(new_expression type: (qualified_identifier scope: (_) @receiver name: (type_identifier) @reference.construct))
(new_expression type: (template_type name: (type_identifier) @reference.construct))
(compound_literal_expression type: (type_identifier) @reference.construct)
(declaration type: (type_identifier) @reference.construct declarator: (init_declarator value: [(argument_list) (initializer_list)]))
(base_class_clause (type_identifier) @reference.inherit)
(base_class_clause (template_type name: (type_identifier) @reference.inherit))
(base_class_clause (qualified_identifier scope: (_) @receiver name: (type_identifier) @reference.inherit))
((field_initializer . (field_identifier) @reference.call . (argument_list) @arguments) (#match? @reference.call "^[A-Z]"))
(qualified_identifier scope: (_) @receiver name: (type_identifier) @reference.type)
(argument_list (pointer_expression argument: (qualified_identifier) @reference.value @qualified))
(argument_list (qualified_identifier) @reference.value @qualified)

; bindings: types of local names

(parameter_declaration type: [(type_identifier) (qualified_identifier) (template_type)] @type declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)])
(optional_parameter_declaration type: [(type_identifier) (qualified_identifier) (template_type)] @type declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)])
(declaration type: [(type_identifier) (qualified_identifier) (template_type)] @type declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding) (function_declarator declarator: (identifier) @binding)
  (init_declarator declarator: [(identifier) @binding (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)])])
(field_declaration type: [(type_identifier) (qualified_identifier) (template_type)] @type declarator: [(field_identifier) @binding
  (pointer_declarator (field_identifier) @binding) (reference_declarator (field_identifier) @binding)])
(for_range_loop type: [(type_identifier) (qualified_identifier) (template_type)] @type declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)])
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)]
  value: (call_expression function: [(identifier) (field_expression) (qualified_identifier name: (identifier))] @result)))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding) (reference_declarator (identifier) @binding)]
  value: (call_expression function: [(template_function name: (identifier) @_make arguments: (template_argument_list . (_) @type))
    (qualified_identifier name: (template_function name: (identifier) @_make arguments: (template_argument_list . (_) @type)))]))
  (#match? @_make "^(make_(unique|shared|intrusive)|(static|dynamic|reinterpret|const)_(pointer_)?cast)$"))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @binding
  (pointer_declarator (identifier) @binding)] value: (new_expression type: (_) @type)))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @binding
  (reference_declarator (identifier) @binding)] value: (compound_literal_expression type: (_) @type)))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: [(identifier) @binding
  (reference_declarator (identifier) @binding)] value: [(identifier) (field_expression)] @same))

(using_declaration) @import
(namespace_alias_definition) @import
