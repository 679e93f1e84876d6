; definitions

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name) body: (_)? @body) @definition.function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name) body: (_)? @body) @definition.method
(assignment_statement (variable_list . name: (identifier) @name) (expression_list . value: (function_definition body: (_)? @body)))
  @definition.function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name))
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)) @definition.field)
(variable_declaration (assignment_statement (variable_list . name: (identifier)) (expression_list . value: (function_definition)))) @outer

; references

(function_call name: (identifier) @reference.call arguments: (arguments) @arguments)
(function_call name: (dot_index_expression table: (_) @receiver field: (_) @reference.call) arguments: (arguments) @arguments)
(function_call name: (method_index_expression table: (_) @receiver method: (_) @reference.call) arguments: (arguments) @arguments)
(arguments (identifier) @reference.value)
(arguments (dot_index_expression table: (_) @receiver field: (_) @reference.value))
(field value: (identifier) @reference.value)
(field value: (dot_index_expression table: (_) @receiver field: (_) @reference.value))

; bindings: types of local names

(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @binding)
  (expression_list . value: (function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @result)))
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @binding)
  (expression_list . value: [(identifier) (dot_index_expression)] @same))
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @binding)
  (expression_list . value: (function_call name: (identifier) @_set arguments: (arguments (_) . [(identifier) (dot_index_expression)] @type .)))
  (#eq? @_set "setmetatable"))
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression)] @binding)
  (expression_list . value: (function_call name: (identifier) @_set arguments: (arguments (_) . (table_constructor
    (field name: (identifier) @_index value: (identifier) @type)) .)))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))

((function_call name: (identifier) @_require arguments: (arguments (string))) @import (#eq? @_require "require"))
(comment) @comment
