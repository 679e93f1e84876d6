; definitions

(function_declaration name: (identifier) @name result: (_)? @returns body: (_)? @body) @definition.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name result: (_)? @returns
  body: (_)? @body) @definition.method
(type_declaration . (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) .) @definition.struct
(type_declaration . (type_spec name: (_) @name type: (interface_type)) .) @definition.interface
(type_declaration . (type_spec name: (_) @name) .) @definition.type
(type_declaration (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct)
(type_declaration (type_spec name: (_) @name type: (interface_type)) @definition.interface)
(type_declaration (type_spec name: (_) @name) @definition.type)
(type_declaration (type_alias name: (_) @name) @definition.type)
(type_spec name: (_) @name type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base)))) @definition.struct
(type_spec name: (_) @name type: (interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .))) @definition.interface
(interface_type (method_elem name: (_) @name result: (_)? @returns) @definition.method)
; not by the field: the grammar also assigns it to commas, so only the first name would match
(source_file (const_declaration (const_spec (identifier) @name) @definition.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable)))

; references

(call_expression function: (identifier) @reference.call arguments: (argument_list) @arguments)
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @reference.call) arguments: (argument_list) @arguments)
(call_expression function: (index_expression operand: (identifier) @reference.call) arguments: (argument_list) @arguments)
(call_expression function: (index_expression operand: (selector_expression operand: (_) @receiver field: (_) @reference.call))
  arguments: (argument_list) @arguments)
(call_expression function: (type_instantiation_expression type: (type_identifier) @reference.call) arguments: (argument_list) @arguments)
(type_conversion_expression type: (generic_type type: (type_identifier) @reference.call))
(type_conversion_expression type: (generic_type type: (qualified_type package: (_) @receiver name: (_) @reference.call)))
(composite_literal type: (type_identifier) @reference.construct)
(composite_literal type: (qualified_type package: (_) @receiver name: (_) @reference.construct))
(composite_literal type: (generic_type type: (type_identifier) @reference.construct))
(composite_literal type: (generic_type type: (qualified_type package: (_) @receiver name: (_) @reference.construct)))
(field_declaration !name type: (type_identifier) @reference.inherit)
(field_declaration !name type: (qualified_type package: (_) @receiver name: (_) @reference.inherit))
(qualified_type package: (_) @receiver name: (_) @reference.type)
(type_identifier) @reference.type
(argument_list (identifier) @reference.value)
(argument_list (selector_expression operand: (_) @receiver field: (_) @reference.value))
(literal_element (identifier) @reference.value)
(literal_element (selector_expression operand: (_) @receiver field: (_) @reference.value))
(return_statement (expression_list (identifier) @reference.value))

; bindings: types of local names

(parameter_declaration name: (identifier) @binding type: (_) @type)
(field_declaration name: (field_identifier) @binding type: (_) @type)
(field_declaration !name type: (type_identifier) @binding @type)
(field_declaration !name type: (qualified_type name: (_) @binding) @type)
(var_spec name: (identifier) @binding type: (_) @type)
(var_spec name: (identifier) @binding value: (expression_list . (call_expression function: [(identifier) (selector_expression)] @result)))
(var_spec name: (identifier) @binding value: (expression_list . (composite_literal type: (_) @type)))
(var_spec name: (identifier) @binding value: (expression_list . (unary_expression operand: (composite_literal type: (_) @type))))
(short_var_declaration left: (expression_list . (identifier) @binding)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @result)))
(short_var_declaration left: (expression_list . (identifier) @binding)
  right: (expression_list . (call_expression function: (identifier) @_new arguments: (argument_list . (_) @type)) (#eq? @_new "new")))
(short_var_declaration left: (expression_list . (identifier) @binding) right: (expression_list . (composite_literal type: (_) @type)))
(short_var_declaration left: (expression_list . (identifier) @binding)
  right: (expression_list . (unary_expression operand: (composite_literal type: (_) @type))))
(short_var_declaration left: (expression_list . (identifier) @binding)
  right: (expression_list . (type_conversion_expression type: (generic_type type: (_) @result))))
(short_var_declaration left: (expression_list . (identifier) @binding)
  right: (expression_list . (type_assertion_expression type: (_) @type)))
(short_var_declaration left: (expression_list . (identifier) @binding) right: (expression_list . [(identifier) (selector_expression)] @same))
(assignment_statement left: (expression_list . [(identifier) (selector_expression)] @binding)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @result)))
(assignment_statement left: (expression_list . [(identifier) (selector_expression)] @binding)
  right: (expression_list . (unary_expression operand: (composite_literal type: (_) @type))))
(assignment_statement left: (expression_list . (selector_expression) @binding) right: (expression_list . (identifier) @same))

(import_spec) @import
(package_clause (package_identifier) @package)
(comment) @comment
