/** Prometheus metrics of the sound of phones and providers. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { JITTER } from './buckets.ts';
import { LabelLimit } from './label-limit.ts';

/** A phone or provider whose media has ended. */
export interface MediaSide {
  readonly domain: string;
  /** Code of the provider; undefined for a phone. */
  readonly trunk: string | undefined;
}

/** What the media server counted; null where the far end reported nothing. */
export interface CountedMedia {
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly lostIn: number;
  readonly lostOut: number | null;
  readonly jitterMsIn: number;
  readonly jitterMsOut: number | null;
}

type Label = 'domain' | 'trunk' | 'direction';

/** Packets, losses and jitter, counted at the end of each leg. */
export class MediaMetrics {
  readonly #trunks = new LabelLimit();
  readonly #packets: Counter<Label>;
  readonly #lost: Counter<Label>;
  readonly #jitter: Histogram<Label>;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames: Label[] = ['domain', 'trunk', 'direction'];
    this.#packets = new Counter({
      name: 'ringmaster_rtp_packets_total',
      help: 'RTP packets of ended legs: in from phones (trunk empty) and providers, out to them',
      labelNames,
      registers,
    });
    this.#lost = new Counter({
      name: 'ringmaster_rtp_packets_lost_total',
      help: 'Lost RTP packets of ended legs: in as counted here, out as the far end reported by RTCP',
      labelNames,
      registers,
    });
    this.#jitter = new Histogram({
      name: 'ringmaster_rtp_jitter_seconds',
      help: 'Jitter of ended legs: in as measured here, out as the far end reported by RTCP',
      labelNames,
      buckets: JITTER,
      registers,
    });
  }

  /** The media of a leg has ended. */
  ended(side: MediaSide, media: CountedMedia): void {
    const { domain, name: trunk } = this.#trunks.of(side.domain, side.trunk ?? '');
    const [received, sent] = [
      { domain, trunk, direction: 'in' },
      { domain, trunk, direction: 'out' },
    ];
    this.#packets.inc(received, media.packetsIn);
    this.#packets.inc(sent, media.packetsOut);
    this.#lost.inc(received, media.lostIn);
    if (media.packetsIn > 0) this.#jitter.observe(received, media.jitterMsIn / 1000);
    if (media.lostOut !== null) this.#lost.inc(sent, media.lostOut);
    if (media.jitterMsOut !== null) this.#jitter.observe(sent, media.jitterMsOut / 1000);
  }
}
