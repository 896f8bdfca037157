#!/bin/sh
# Makes the prompts of the example scenarios: 8 kHz mono 16-bit PCM, with espeak-ng and sox.
set -eu
cd "$(dirname "$0")"
say() {
  espeak-ng -v en-gb -s 150 --stdout "$2" | sox -V1 - -r 8000 -c 1 -b 16 -D "$1.wav" gain -n -3 silence 1 0.02 0.5% reverse silence 1 0.02 0.5% pad 0.1 0.05 reverse
}
say welcome 'Welcome to Ringmaster.'
say menu 'Press 1 for the first choice, or 2 for the second.'
say choice-1 'You chose one.'
say choice-2 'You chose two.'
say invalid 'That is not a choice.'
say goodbye 'Goodbye.'
say leave-message 'Nobody is here right now. Please leave a message after the beep, and press hash when you are done.'
say keep-or-again 'Press 1 to keep your message, or 2 to record it again.'
say survey-hello 'Three short questions. Answer each with a key from 1, not at all, to 5, very much.'
say survey-1 'Were you helped quickly?'
say survey-2 'Was your question answered?'
say survey-3 'Would you call us again?'
say queue-welcome 'Welcome. We connect you with the next free agent. Press 0 at any time to leave a message.'
say queue-wait 'All agents are busy. Please hold the line.'
say message-choice 'Press 1 for the next message, 2 to hear this one again, or 3 to delete it.'
say no-messages 'There are no more messages.'
