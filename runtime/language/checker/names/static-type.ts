/** Compatibility of types, without running anything. CEL's `dyn` is known only at run time and fits all. */
import type { Compiled } from '../../program.ts';
import { CEL_TYPES, VALUE_TYPES, type ValueType, typeOfValue } from '../../values.ts';

/** The scenario language's type for a JSON Schema type. */
export function valueType(type: string): ValueType {
  return type === 'array' ? 'list' : (type as ValueType);
}

/** CEL type of a compiled value. */
export function staticType(compiled: Compiled): string {
  if (compiled.kind === 'expression') return compiled.expression.type;
  if (compiled.kind === 'template') return 'string';
  if (compiled.kind === 'constant') return CEL_TYPES[typeOfValue(compiled.value)];
  return compiled.kind === 'list' ? CEL_TYPES.list : CEL_TYPES.object;
}

/** True when a CEL type fits a type of the scenario language. */
export function celFits(actual: string, wanted: readonly ValueType[]): boolean {
  if (actual === 'dyn') return true;
  const family = actual.replace(/<.*$/s, '');
  return wanted.some(
    (type) =>
      type === 'any' || CEL_TYPES[type].replace(/<.*$/s, '') === family || (type === 'number' && family === 'int'),
  );
}

/** The scenario language's name for a CEL type. */
export function plainType(celType: string): ValueType {
  const family = celType.replace(/<.*$/s, '');
  return VALUE_TYPES.find((type) => CEL_TYPES[type].replace(/<.*$/s, '') === family) ?? 'object';
}

/** The suggestion for a conversion to this type. */
export function conversion(type: ValueType): string | undefined {
  if (type === 'string') return 'convert with ${string(...)}';
  if (type === 'integer') return 'convert with ${int(...)}';
  return type === 'number' ? 'convert with ${double(...)}' : undefined;
}
