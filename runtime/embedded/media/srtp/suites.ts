/** The supported suites. */
import type { SrtpSuiteName } from '../../../sip-facts/index.ts';
import { CounterMode } from './counter-mode.ts';
import { sessionKeys } from './derive.ts';
import { Gcm } from './gcm.ts';
import type { Transform } from './transform.ts';

/** @param master master key, then master salt */
export function transformOf(suite: SrtpSuiteName, master: Buffer): Transform {
  const [rtp, rtcp] = [sessionKeys(suite, master, 'rtp'), sessionKeys(suite, master, 'rtcp')];
  return suite === 'AEAD_AES_128_GCM' ? new Gcm(rtp, rtcp) : new CounterMode(rtp, rtcp);
}
