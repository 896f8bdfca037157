import type { NumberRule } from '../../domain/index.ts';

/**
 * Applies the first rule whose pattern matches: strips leading characters and prepends others. Without a match the number
 * stays as it is.
 */
export function mapNumber(rules: readonly NumberRule[], number: string): string {
  const rule = rules.find(({ pattern }) => pattern.matches(number));
  return rule === undefined ? number : rule.prepend + number.slice(rule.strip);
}
