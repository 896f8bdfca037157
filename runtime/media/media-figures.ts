/** The figures of a channel's media at its end. */
import type { FsEvent } from 'drachtio-fsmrf';

/** What a media server counted of one channel. */
export interface MediaFigures {
  /** Negotiated codec, e.g. `PCMU`. */
  readonly codec: string;
  /** RTP packets received from the far end, and sent to it. */
  readonly packetsIn: number;
  readonly packetsOut: number;
  /** Missing packets of the far end. FreeSWITCH adds several for each gap and each late packet. */
  readonly lostIn: number;
  /** Standard deviation of the time between two packets of the far end, ms, at its greatest. */
  readonly jitterMsIn: number;
  /** Mean opinion score, 1 to 4.5, that the media server derives from the losses; null when nothing was received. */
  readonly mosIn: number | null;
  /** What the far end reported of the packets sent (RFC 3550); null without a report, and always from FreeSWITCH. */
  readonly lostOut: number | null;
  readonly jitterMsOut: number | null;
  /** Packets of an encrypted stream that were forged, repeated or in clear, if any; never from FreeSWITCH, which logs them. */
  readonly rejectedIn?: number;
  /** Why the media server got no keys for an encrypted stream; never from FreeSWITCH, which logs it. */
  readonly secureFailure?: string;
}

/** What is read of a CHANNEL_HANGUP_COMPLETE. */
export const FIGURE_HEADERS: readonly string[] = [
  'Event-Name',
  'Unique-ID',
  ...[
    'rtp_audio_in_packet_count',
    'rtp_audio_out_packet_count',
    'rtp_audio_in_flaw_total',
    'rtp_audio_in_jitter_max_variance',
    'rtp_audio_in_mos',
    'rtp_audio_rtcp_reported_lost',
    'rtp_audio_rtcp_reported_jitter',
    'rtp_audio_in_rejected_packet_count',
    'rtp_secure_media_failure',
    'rtp_use_codec_name',
    'read_codec',
  ].map((name) => `variable_${name}`),
];

/** Reads the figures of a CHANNEL_HANGUP_COMPLETE. */
export function readFigures(event: FsEvent): MediaFigures {
  const text = (name: string): string => event.getHeader(`variable_${name}`) ?? '';
  const known = (name: string): number | null => {
    const value = text(`rtp_audio_${name}`);
    return value === '' || !Number.isFinite(Number(value)) ? null : Number(value);
  };
  const number = (name: string): number => known(name) ?? 0;
  const packetsIn = number('in_packet_count');
  const rejectedIn = number('in_rejected_packet_count');
  const secureFailure = text('rtp_secure_media_failure');
  return {
    codec: text('rtp_use_codec_name') || text('read_codec'),
    packetsIn,
    packetsOut: number('out_packet_count'),
    lostIn: number('in_flaw_total'),
    jitterMsIn: Math.round(Math.sqrt(number('in_jitter_max_variance')) * 100) / 100,
    mosIn: packetsIn > 0 ? known('in_mos') : null,
    lostOut: known('rtcp_reported_lost'),
    jitterMsOut: known('rtcp_reported_jitter'),
    ...(rejectedIn > 0 && { rejectedIn }),
    ...(secureFailure !== '' && { secureFailure }),
  };
}

/** The figures of a far end that was on one channel, and then on another. */
export function bothFigures(first: MediaFigures | undefined, then: MediaFigures | undefined): MediaFigures | undefined {
  if (first === undefined || then === undefined) return first ?? then;
  return {
    codec: then.codec,
    packetsIn: first.packetsIn + then.packetsIn,
    packetsOut: first.packetsOut + then.packetsOut,
    lostIn: first.lostIn + then.lostIn,
    jitterMsIn: Math.max(first.jitterMsIn, then.jitterMsIn),
    mosIn: joined(Math.min, first.mosIn, then.mosIn),
    lostOut: joined((one, other) => one + other, first.lostOut, then.lostOut),
    jitterMsOut: joined(Math.max, first.jitterMsOut, then.jitterMsOut),
  };
}

function joined(of: (one: number, other: number) => number, first: number | null, then: number | null): number | null {
  return first === null || then === null ? (first ?? then) : of(first, then);
}

/** Milliseconds after the end of a channel in which its figures arrive. */
const LATE_MS = 2000;

/** Hands the figures of channels to their endpoints. */
export class FiguresDesk {
  readonly #waiting = new Map<string, (figures: MediaFigures | undefined) => void>();

  /**
   * The figures of a channel at its end; undefined when they do not arrive in time. Never rejects.
   * @param gone aborted at the end of the channel
   */
  of(uuid: string, gone: AbortSignal): Promise<MediaFigures | undefined> {
    const { promise, resolve } = Promise.withResolvers<MediaFigures | undefined>();
    let timer: NodeJS.Timeout | undefined;
    const settle = (figures: MediaFigures | undefined): void => {
      if (this.#waiting.get(uuid) === settle) this.#waiting.delete(uuid);
      clearTimeout(timer);
      resolve(figures);
    };
    this.#waiting.set(uuid, settle);
    const ended = (): void => {
      if (this.#waiting.get(uuid) === settle) timer = setTimeout(settle, LATE_MS, undefined).unref();
      else settle(undefined);
    };
    gone.addEventListener('abort', ended, { once: true });
    return promise;
  }

  /** Takes a CHANNEL_HANGUP_COMPLETE. */
  take(event: FsEvent): void {
    this.#waiting.get(event.getHeader('Unique-ID') ?? '')?.(readFigures(event));
  }

  /** No more figures come. */
  close(): void {
    for (const settle of this.#waiting.values()) settle(undefined);
  }
}
