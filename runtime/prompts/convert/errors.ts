/** Why a file is no sound that can be played. */

/**
 * `unknown_kind`: no kind of sound file that is known. `broken`: it cannot be decoded. `empty`: it has no sound.
 * `too_long`: more seconds than allowed. `busy`: decoding took too long, or too many files wait.
 */
export type SoundFault = 'unknown_kind' | 'broken' | 'empty' | 'too_long' | 'busy';

/** A file that cannot be converted; the message is a clause about it: "is ...". */
export class SoundError extends Error {
  override readonly name = 'SoundError';
  readonly fault: SoundFault;

  constructor(fault: SoundFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
