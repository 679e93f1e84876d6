; patterns shared by JavaScript and TypeScript

; definitions

(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_body (method_definition name: (_) @name body: (_) @body) @definition.method)
(object (method_definition name: (_) @name body: (_) @body) @definition.function)
(object (pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @definition.function)
(variable_declarator name: (identifier) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(assignment_expression left: [(identifier) (member_expression)] @name right: [(arrow_function body: (_) @body)
  (function_expression body: (_) @body) (generator_function body: (_) @body)]) @definition.function
(assignment_expression left: [(identifier) (member_expression)] @name right: (class body: (_) @body)) @definition.class
(export_statement "default" value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @definition.function
(export_statement "default" value: (class body: (_) @body)) @definition.class
(program (lexical_declaration (variable_declarator name: [(identifier) @name
  (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)]) (array_pattern (identifier) @name)]) @definition.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (lexical_declaration (variable_declarator name: [(identifier) @name
  (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)]) (array_pattern (identifier) @name)]) @definition.variable))
(export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))

(export_statement) @outer
(program (lexical_declaration . (variable_declarator) .) @outer)
(lexical_declaration . (variable_declarator value: [(arrow_function) (function_expression) (generator_function) (class)]) .) @outer
(variable_declaration . (variable_declarator value: [(arrow_function) (function_expression) (generator_function) (class)]) .) @outer

; references

(call_expression function: (identifier) @reference.call arguments: (arguments) @arguments)
(call_expression function: (member_expression object: (_) @receiver property: (_) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (identifier) @reference.call arguments: (template_string))
(call_expression function: (member_expression object: (_) @receiver property: (_) @reference.call) arguments: (template_string))
(call_expression function: (await_expression (identifier) @reference.call) arguments: (arguments) @arguments)
(call_expression function: (await_expression (member_expression object: (_) @receiver property: (_) @reference.call))
  arguments: (arguments) @arguments)
(new_expression constructor: (identifier) @reference.construct)
(new_expression constructor: (identifier) @reference.construct arguments: (arguments) @arguments)
(new_expression constructor: (member_expression object: (_) @receiver property: (_) @reference.construct) arguments: (arguments) @arguments)
(decorator (identifier) @reference.decorator)
(decorator (member_expression object: (_) @receiver property: (_) @reference.decorator))
(arguments (identifier) @reference.value)
(arguments (member_expression object: (_) @receiver property: (_) @reference.value))
(pair value: (identifier) @reference.value)
(pair value: (member_expression object: (_) @receiver property: (_) @reference.value))
(shorthand_property_identifier) @reference.value
(array (identifier) @reference.value)
(return_statement (identifier) @reference.value)
(assignment_expression right: (identifier) @reference.value)
(binary_expression operator: "instanceof" right: (identifier) @reference.type)

; bindings: types of local names

(variable_declarator name: (identifier) @binding value: (new_expression constructor: (_) @result))
(variable_declarator name: (identifier) @binding value: (call_expression function: [(identifier) (member_expression)] @result))
(variable_declarator name: (identifier) @binding
  value: (await_expression (call_expression function: [(identifier) (member_expression)] @result)))
(variable_declarator name: (identifier) @binding value: [(identifier) (member_expression)] @same)
(assignment_expression left: [(identifier) (member_expression)] @binding right: (new_expression constructor: (_) @result))
(assignment_expression left: [(identifier) (member_expression)] @binding
  right: (call_expression function: [(identifier) (member_expression)] @result))
(assignment_expression left: [(identifier) (member_expression)] @binding right: [(identifier) (member_expression)] @same)
(variable_declarator name: (identifier) @binding value: (this) @same)

; modules

(import_statement) @import
(export_statement source: (_)) @import
(call_expression function: (identifier) @_require arguments: (arguments . (string)) (#eq? @_require "require")) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
(export_statement !source (export_clause (export_specifier name: (_) @local alias: (_) @export)))
(export_statement !source (export_clause (export_specifier name: (_) @export !alias)))
(export_statement "default" value: (identifier) @local) @export.default
(export_statement "default" declaration: (_ name: (_) @local)) @export.default
(export_statement "default" value: (_ name: (_) @local)) @export.default
((assignment_expression left: (member_expression) @_exports right: (object (shorthand_property_identifier) @export))
  (#eq? @_exports "module.exports"))
((assignment_expression left: (member_expression) @_exports right: (object (pair key: (property_identifier) @export value: (identifier) @local)))
  (#eq? @_exports "module.exports"))
((assignment_expression left: (member_expression) @_exports right: (object (method_definition name: (property_identifier) @export)))
  (#eq? @_exports "module.exports"))

(comment) @comment
