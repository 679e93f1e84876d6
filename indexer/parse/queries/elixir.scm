; definitions: all are macro calls

(call target: (identifier) @keyword (arguments . (alias) @name) (do_block) @body
  (#any-of? @keyword "defmodule" "defprotocol" "defimpl")) @definition.module
(call target: (identifier) @keyword (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
  ]) (do_block)? @body
  (#any-of? @keyword "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @definition.function
(call target: (identifier) @keyword (arguments . (binary_operator left: (identifier) operator: _ @name)) (do_block)? @body
  (#any-of? @keyword "def" "defp" "defmacro" "defmacrop") (#not-eq? @name "when")) @definition.function
(call target: (identifier) @keyword (arguments . (string . (quoted_content) @name .)) (do_block) @body
  (#any-of? @keyword "test" "describe" "property" "feature")) @definition.function
(unary_operator operator: "@" operand: (call target: (identifier) @keyword
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @keyword "type" "typep" "opaque")) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @keyword
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @keyword "callback" "macrocallback")) @definition.declaration
(do_block (unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @definition.constant)

; references

(call target: (identifier) @reference.call (arguments)? @arguments)
(call target: (dot left: (_) @receiver right: (identifier) @reference.call) (arguments) @arguments)
(call target: (dot left: (alias) @receiver right: (identifier) @reference.call) .)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference.value operator: "/"))
(binary_operator operator: "|>" right: (identifier) @reference.call)
(struct (alias) @reference.construct @dotted)
((call target: (identifier) @_use (arguments . (alias) @reference.inherit @dotted)) (#any-of? @_use "use" "defimpl"))
((unary_operator operator: "@" operand: (call target: (identifier) @_is (arguments . (alias) @reference.inherit @dotted)))
  (#eq? @_is "behaviour"))
(arguments (alias) @reference.type @dotted)
(list (alias) @reference.type @dotted)
(tuple (alias) @reference.type @dotted)

((call target: (identifier) @_import (arguments . [(alias) (dot)])) @import (#any-of? @_import "alias" "import" "require" "use"))
(comment) @comment
((unary_operator operator: "@" operand: (call target: (identifier) @_doc)) @comment
  (#any-of? @_doc "doc" "typedoc" "spec" "impl" "deprecated" "since" "tag"))
