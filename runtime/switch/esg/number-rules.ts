/** Numbers between a provider and its domain: first the rules of its mapping, and next to the wire those of E.164. */
import type { NumberRule, Provider } from '../../domain/index.ts';
import { numberInside, numberOutside } from './numbering.ts';

/**
 * Applies the first rule whose pattern matches: strips leading characters and prepends others. Without a match the number
 * stays as it is.
 */
function mapNumber(rules: readonly NumberRule[], number: string): string {
  const rule = rules.find(({ pattern }) => pattern.matches(number));
  return rule === undefined ? number : rule.prepend + number.slice(rule.strip);
}

/** The called number of a call to the provider. @param number as the domain dialled it */
export function calledOutside(provider: Provider, number: string): string {
  return numberOutside(provider, mapNumber(provider.mapping.outbound, number));
}

/** The caller's number of a call to the provider. */
export function callerOutside(provider: Provider, number: string): string {
  return numberOutside(provider, mapNumber(provider.mapping.callerid, number));
}

/** True for a number that belongs to the domain. @param number as the provider calls it */
export function isOwnNumber(provider: Provider, number: string): boolean {
  const called = numberInside(provider, number);
  return provider.numbers.some((own) => own.matches(called));
}

/** The called number of a call from the provider, as the domain routes it. */
export function calledInside(provider: Provider, number: string): string {
  return mapNumber(provider.mapping.inbound, numberInside(provider, number));
}
