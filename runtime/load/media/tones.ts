/** The tones of a load, and how they are recognised. */
import { decodingTable, encode } from './g711.ts';

/** Samples of a packet of 20 ms at 8 kHz. */
export const FRAME = 160;
const SAMPLE_RATE = 8000;
/** Of the tones sent. */
const AMPLITUDE = 8000;
/** Amplitude below which a packet is silence, comfort noise included. */
const AUDIBLE = 300;
/** Share of a packet's power that its tone has; mixed or broken sound has less. */
const PURE = 0.6;

/**
 * Frequencies in Hz. All are multiples of 50 Hz: each packet holds whole periods, so that one packet, repeated, is a steady
 * tone, and the tones do not disturb each other in Goertzel's algorithm over one packet.
 */
export const CALLER_TONES = [500, 700, 900, 1100, 1300, 1500, 1700, 1900] as const;
/** A called phone that hears the caller's tone of some index answers with this tone of the same index. */
export const REPLY_TONES = [600, 800, 1000, 1200, 1400, 1600, 1800, 2000] as const;
/** Sent by a called phone that has not recognised a caller's tone yet. */
export const WAITING_TONE = 2300;

const ALL: readonly number[] = [...CALLER_TONES, ...REPLY_TONES, WAITING_TONE];

/** A steady tone as the payload of one packet. */
export function tonePayload(frequency: number, payloadType: number): Buffer {
  const key = `${frequency}/${payloadType}`;
  const known = payloads.get(key);
  if (known !== undefined) return known;
  const samples = Array.from({ length: FRAME }, (_, n) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * frequency * n) / SAMPLE_RATE)),
  );
  const payload = encode(samples, payloadType);
  payloads.set(key, payload);
  return payload;
}

const payloads = new Map<string, Buffer>();

/** Sound of a packet: one of the tones by its frequency, silence, or something else. */
export type Heard = number | 'silence' | 'other';

/**
 * Recognises the sound of a packet by Goertzel's algorithm.
 * @param payload octets of G.711
 * @param likely the frequency to try first, so that most packets cost one filter
 */
export function recognise(payload: Uint8Array, payloadType: number, likely: number): Heard {
  const table = decodingTable(payloadType);
  if (table === undefined || payload.length === 0) return 'silence';
  let energy = 0;
  for (const octet of payload) {
    const sample = table[octet] as number;
    energy += sample * sample;
  }
  if (energy / payload.length < (AUDIBLE * AUDIBLE) / 2) return 'silence';
  if (shareOf(payload, table, likely, energy) > PURE) return likely;
  return ALL.find((frequency) => shareOf(payload, table, frequency, energy) > PURE) ?? 'other';
}

/** Share of the energy that a tone has, 0 to 1. */
function shareOf(payload: Uint8Array, table: Int16Array, frequency: number, energy: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
  let last = 0;
  let before = 0;
  for (const octet of payload) {
    const next = (table[octet] as number) + coefficient * last - before;
    before = last;
    last = next;
  }
  const power = last * last + before * before - coefficient * last * before;
  return (2 * power) / (payload.length * energy);
}
