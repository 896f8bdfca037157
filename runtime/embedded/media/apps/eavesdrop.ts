/** The application `eavesdrop`. */
import { frameSamples } from '../audio/format.ts';
import { mixInto } from '../audio/mix.ts';
import { type ApplicationStart, NO_RESPONSE, type RunningApplication } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';
import { HeardAudio } from '../channel/heard-audio.ts';
import { isTrue } from '../channel/variable.ts';
import { Whisper } from './whisper.ts';

/** What an eavesdropper hears, and how it is heard. */
interface EavesdropRules {
  /** Whether the eavesdropper hears what the channel says, and what it hears. */
  readonly said: boolean;
  readonly heard: boolean;
  /** Whether the eavesdropper's digits choose who hears it. */
  readonly digits: boolean;
}

/** Reads the rules from the eavesdropper's variables (mod_dptools). Neither leg set means both. */
function rulesOf(channel: Channel): EavesdropRules {
  const [aleg, bleg] = [isTrue(channel, 'eavesdrop_bridge_aleg'), isTrue(channel, 'eavesdrop_bridge_bleg')];
  return {
    said: aleg || !bleg,
    heard: bleg || !aleg,
    digits: channel.get('eavesdrop_enable_dtmf') === undefined || isTrue(channel, 'eavesdrop_enable_dtmf'),
  };
}

/**
 * Listens to another channel until that ends: to what it says, what it hears, or both, also through new bridges. As in
 * FreeSWITCH, commands wait until the end, and `uuid_break` does not end it; the digit `*`, a transfer or a hangup
 * does.
 */
class Eavesdrop implements RunningApplication {
  readonly response = NO_RESPONSE;
  readonly ignoresCommands = true;
  readonly #channel: Channel;
  readonly #target: Channel;
  readonly #rules: EavesdropRules;
  readonly #heard: HeardAudio;
  readonly #whisper: Whisper;
  readonly #release: () => void;
  readonly #takeBack: () => void;
  #frame = new Int16Array(0);
  #done = false;

  constructor(channel: Channel, target: Channel) {
    this.#channel = channel;
    this.#target = target;
    this.#rules = rulesOf(channel);
    this.#heard = new HeardAudio(target);
    this.#whisper = new Whisper(channel, target);
    this.#whisper.to(isTrue(channel, 'eavesdrop_whisper_bleg'), isTrue(channel, 'eavesdrop_whisper_aleg'));
    this.#release = target.audio.listen();
    this.#takeBack = target.onEnd(() => {
      this.#done = true;
    });
  }

  tick(): boolean {
    if (this.#done) return true;
    this.#whisper.follow();
    const { rate } = this.#channel.audio;
    if (this.#frame.length !== frameSamples(rate)) this.#frame = new Int16Array(frameSamples(rate));
    this.#frame.fill(0);
    const said = this.#rules.said ? this.#target.audio.read(rate) : undefined;
    const heard = this.#rules.heard ? this.#heard.frame(rate) : undefined;
    if (said !== undefined) mixInto(this.#frame, said);
    if (heard !== undefined) mixInto(this.#frame, heard);
    this.#channel.audio.write(this.#frame);
    return false;
  }

  /** 1: the other leg hears the eavesdropper; 2: the channel; 3: both; 0: neither; `*` ends the eavesdropping. */
  digit(digit: string): void {
    if (!this.#rules.digits) return;
    if (digit === '*') this.#done = true;
    else if ('0123'.includes(digit)) this.#whisper.to(digit === '2' || digit === '3', digit === '1' || digit === '3');
  }

  end(): void {
    this.#takeBack();
    this.#whisper.to(false, false);
    this.#heard.release();
    this.#release();
  }
}

/** `eavesdrop <uuid>`. */
export const eavesdrop: ApplicationStart = (channel, data) => {
  const target = channel.core.channels.get(data.trim());
  return target === undefined || target === channel ? NO_RESPONSE : new Eavesdrop(channel, target);
};
