/** Errors of runs as their authors get them. */
import { SandboxError, ScriptError } from '../../sandbox/index.ts';
import { CallStateError } from '../call-port.ts';
import type { CallEnd } from '../call-values.ts';
import { ScenarioError } from '../../language/index.ts';
import type { RunError } from './outcome.ts';

const ENDED_BY: Partial<Record<CallEnd['by'], string>> = {
  opponent: 'the other party',
  scenario: 'the scenario itself',
  transfer: 'a transfer',
  taken: 'another party that took it over',
};

/** Code and message of a thrown value. */
export function describeError(error: unknown): Omit<RunError, 'block'> {
  if (error instanceof ScenarioError && error.details)
    return { code: error.code, message: error.message, details: error.details };
  if (error instanceof ScriptError && error.places.length > 0)
    return { code: error.code, message: error.message, stack: error.places };
  if (error instanceof ScenarioError || error instanceof SandboxError)
    return { code: error.code, message: error.message };
  if (error instanceof CallStateError) return { code: 'call_state', message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** The error of blocks after a hang-up by the other party, or an end of the call from outside. */
export function callEnded({ by }: CallEnd, leg?: string): ScenarioError {
  const which = leg === undefined ? 'the call' : `the call "${leg}"`;
  return new ScenarioError('call_ended', `${which} was ended by ${ENDED_BY[by] ?? 'the system'}`);
}
