/** A scenario without its id: leaves a second of the caller's sound in a mailbox. */
export function leavesMessage(mailbox: string): string {
  return `
start: pick_up
blocks:
  pick_up: { answer: , next: message }
  message: { record: { max: 1s, silence: 0s, beep: false }, next: save }
  save:
    mailbox:
      mailbox: ${mailbox}
      action: deposit
      recording: "\${message.recording}"
      milliseconds: "\${message.milliseconds}"
    next: end
`;
}
