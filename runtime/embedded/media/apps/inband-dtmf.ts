/** The applications for digits as tones in the sound: `start_dtmf`, `start_dtmf_generate`, and their ends. */
import { type ApplicationStart, NO_RESPONSE } from '../channel/application.ts';
import { KeyTones } from '../channel/key-tones.ts';
import { InbandDigits } from '../recording/inband-digits.ts';

/** `start_dtmf`: digits in the far end's sound are reported from now on. */
export const startDtmf: ApplicationStart = (channel) => {
  InbandDigits.start(channel);
  return NO_RESPONSE;
};

/** `stop_dtmf`. */
export const stopDtmf: ApplicationStart = (channel) => {
  InbandDigits.stop(channel);
  return NO_RESPONSE;
};

/** `start_dtmf_generate write`: digits are sent as tones from now on. */
export const startDtmfGenerate: ApplicationStart = (channel, data) => {
  if (data.trim().toLowerCase() === 'write') channel.keyTones ??= new KeyTones(channel.audio);
  return NO_RESPONSE;
};

/** `stop_dtmf_generate`. */
export const stopDtmfGenerate: ApplicationStart = (channel) => {
  channel.keyTones = undefined;
  return NO_RESPONSE;
};
