/** Something that listens to a channel beside its application: a recording, an eavesdropper, a tone detector. */
export interface MediaTap {
  /** Called once a frame, after the application of the channel. */
  tick(): void;
  /** The channel has ended, or the tap is taken off. Called once. */
  end(): void;
}
