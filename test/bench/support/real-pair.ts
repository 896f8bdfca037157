/** The drachtio-server and the FreeSWITCH that the environment names. */
import { processListeningOn } from './process-usage.ts';
import type { Processes } from './processor-time.ts';

export interface RealPair {
  /** Settings of a node that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** `ip:port` for phones. */
  readonly sip: string;
  readonly processes: Required<Pick<Processes, 'sipServer' | 'mediaServer'>>;
}

export const NEEDED =
  'RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name the real pair, RINGMASTER_SIP_PORT its SIP port';

/**
 * @returns undefined unless all three are set
 * @throws Error when one of the two does not run on this machine
 */
export function realPair(): RealPair | undefined {
  const { RINGMASTER_DRACHTIO: drachtio, RINGMASTER_FREESWITCH: freeswitch, RINGMASTER_SIP_PORT: port } = process.env;
  if (drachtio === undefined || freeswitch === undefined || port === undefined) return undefined;
  const processOf = (address: string): number => processListeningOn(Number(address.split(':')[1]));
  return {
    env: { RINGMASTER_DRACHTIO: drachtio, RINGMASTER_FREESWITCH: freeswitch, RINGMASTER_SIP_PORT: port },
    sip: `127.0.0.1:${port}`,
    processes: { sipServer: processOf(drachtio), mediaServer: processOf(freeswitch) },
  };
}
