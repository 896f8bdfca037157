/** A listener to a channel beside its application: a recording or a tone detection. */
export interface MediaTap {
  /** Called once a frame, after the application of the channel. */
  tick(): void;
  /** The channel has ended, or the tap was removed. Called once. */
  end(): void;
}
