/** Shared by `call`, `hunt` and `refer`: what a party hears while somebody else is called for it. */
import { Type } from 'typebox';
import type { ComponentContext } from '../runtime/runs/index.ts';
import { type PlaySource, Sounds } from '../runtime/language/index.ts';

/** The settings. */
export const ringingSettings = {
  ringback: Type.Boolean({
    default: true,
    description: 'Whether the waiting party hears the ringing tone; `false`: silence.',
  }),
  sounds: Type.Optional(
    Sounds({ examples: ['music.wav'], description: 'Played over and over in place of the ringing tone.' }),
  ),
};

export const RINGING_DOCS = [
  'Meanwhile the waiting party hears the ringing tone, or `sounds` over and over, also while `pre_answer` talks to a called',
  'party. With either of them it does not hear the early media of the called phones.',
];

export const UNANSWERED_DOCS = [
  'The scenario need not answer first. A caller who is not answered yet gets 180, or hears `sounds` as early media (183), and is',
  'answered when a called party has taken the call. When nobody does, the scenario may try others, `answer` or `reject`. If it',
  'ends instead, the caller gets the best refusal: 603 when somebody declined, else 486 when somebody was busy, else 408 or 480.',
];

/** Complaint about settings that contradict each other. */
export function checkRinging(given: ReadonlySet<string>, { ringback }: { readonly ringback?: unknown }): string[] {
  return given.has('sounds') && ringback === false
    ? ['`ringback: false` means silence, and `sounds` are to be played: name one of them']
    : [];
}

interface Ringing {
  readonly ringback: boolean;
  readonly sounds?: string | readonly string[];
}

interface RingingOptions {
  readonly ringback: boolean;
  readonly sounds?: readonly PlaySource[];
}

/**
 * The options for a transfer.
 * @throws ScenarioError as `ComponentContext.sounds`
 */
export async function ringingOf(
  { sounds: find }: Pick<ComponentContext, 'sounds'>,
  { ringback, sounds }: Ringing,
): Promise<RingingOptions> {
  return { ringback, ...(sounds === undefined ? {} : { sounds: await find(sounds) }) };
}

/**
 * Lets the caller of the run hear the ringing tone, or the sounds, while a party with a leg of its own is called.
 * @throws what the work throws
 */
export async function whileRinging<T>(
  context: ComponentContext,
  { ringback, sounds }: RingingOptions,
  work: Promise<T>,
): Promise<T> {
  const { ownCall: caller, call, signal, note } = context;
  const listens = caller !== undefined && (caller.state === 'incoming' || caller.state === 'connected');
  if (!listens || caller === call || !ringback) return work;
  const done = new AbortController();
  const over = AbortSignal.any([signal, done.signal, caller.endSignal]);
  const ringing = caller.ringback({ signal: over, sounds }).catch((error: unknown) => {
    if (!over.aborted)
      note('error', `the caller hears no ringing: ${error instanceof Error ? error.message : 'failed'}`);
  });
  try {
    return await work;
  } finally {
    done.abort();
    await ringing;
  }
}
