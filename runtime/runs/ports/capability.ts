import type { CallPort } from '../call-port.ts';
import { ScenarioError } from '../../language/errors.ts';

/**
 * Abilities of a call beyond `CallPort`, each an interface of its own that an implementation of the call may have or
 * not: a component asks for what it needs.
 * @param methods the methods that make the ability
 * @param what the ability in words, for the message
 * @throws ScenarioError code `unavailable` when the call cannot do it
 */
export function withAbility<Ability extends object>(
  call: CallPort,
  methods: readonly (keyof Ability & string)[],
  what: string,
): CallPort & Ability {
  if (!hasAbility<Ability>(call, methods)) throw unavailable(`this node's calls cannot ${what}`);
  return call;
}

export function hasAbility<Ability extends object>(
  call: CallPort,
  methods: readonly (keyof Ability & string)[],
): call is CallPort & Ability {
  const candidate = call as unknown as Readonly<Record<string, unknown>>;
  return methods.every((method) => typeof candidate[method] === 'function');
}

/** What a component throws when the node lacks a service that it needs. */
export function unavailable(message: string): ScenarioError {
  return new ScenarioError('unavailable', message);
}
