/** Voice messages of mailboxes: their index in the database, their sound in the file store. */
export {
  MailboxFullError,
  MAX_MESSAGES,
  type MessageCounts,
  type NewMessage,
  type VoiceMessageRow,
  VoiceMessages,
  type VoiceMessagesOptions,
} from './voice-messages.ts';
