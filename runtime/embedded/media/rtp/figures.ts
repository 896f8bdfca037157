/** Sending statistics of all RTP sessions of the server. */
export class MediaFigures {
  /** RTP packets sent. */
  packetsSent = 0;
  /** Packets sent more than 10 ms after their due time. */
  packetsLate = 0;
  /** Largest lateness of a packet, ms. */
  maxLatenessMs = 0;

  /** Counts a packet sent `latenessMs` after its due time. */
  sent(latenessMs: number): void {
    this.packetsSent += 1;
    if (latenessMs > 10) this.packetsLate += 1;
    if (latenessMs > this.maxLatenessMs) this.maxLatenessMs = latenessMs;
  }
}

/** Counters of one session, under the names of FreeSWITCH's media statistics. */
export interface SessionCounters {
  inRawBytes: number;
  inMediaBytes: number;
  inPackets: number;
  inMediaPackets: number;
  inSkipPackets: number;
  inDtmfPackets: number;
  inCngPackets: number;
  outRawBytes: number;
  outMediaBytes: number;
  outPackets: number;
  outMediaPackets: number;
  outDtmfPackets: number;
}

export function emptyCounters(): SessionCounters {
  return {
    inRawBytes: 0,
    inMediaBytes: 0,
    inPackets: 0,
    inMediaPackets: 0,
    inSkipPackets: 0,
    inDtmfPackets: 0,
    inCngPackets: 0,
    outRawBytes: 0,
    outMediaBytes: 0,
    outPackets: 0,
    outMediaPackets: 0,
    outDtmfPackets: 0,
  };
}
