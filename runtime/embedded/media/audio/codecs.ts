/** The codecs of the server. */
import type { Codec, FormatParameters, Voice } from './codec.ts';
import { G722, G722Voice } from './g722.ts';
import { isG711, PCMA, PCMU } from './g711.ts';
import { loadOpus, OPUS, opusLoaded, OpusVoice } from './opus.ts';

/** In order of preference, for offers and answers. */
export const CODECS: readonly Codec[] = [OPUS, G722, PCMU, PCMA];

/** Whether `prepareCodec` has nothing to do. */
export function isReady(codec: Codec): boolean {
  return codec !== OPUS || opusLoaded();
}

/** Loads what a codec needs, so that `openVoice` is quick. Rejects when it cannot be loaded. */
export async function prepareCodec(codec: Codec): Promise<void> {
  if (codec === OPUS) await loadOpus();
}

/**
 * Makes encoder and decoder of a leg.
 * @param wanted what the far end wants to get
 */
export async function openVoice(codec: Codec, wanted: FormatParameters): Promise<Voice> {
  return codec === OPUS ? OpusVoice.open(wanted) : new G722Voice();
}

/**
 * Whether packets of one codec can be sent on as packets of the other without decoding them: G.711 by a table, and any other codec only as
 * it is.
 */
export function areRelayed(from: Codec, to: Codec): boolean {
  return from === to || (isG711(from) && isG711(to));
}
