import type { NumberRule } from '../../domain/index.ts';

/** The first rule whose pattern fits takes characters from the front and puts others there; no rule: as it is. */
export function mapNumber(rules: readonly NumberRule[], number: string): string {
  const rule = rules.find(({ pattern }) => pattern.matches(number));
  return rule === undefined ? number : rule.prepend + number.slice(rule.strip);
}
