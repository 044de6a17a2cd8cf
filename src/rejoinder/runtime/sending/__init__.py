"""What is to be said goes out, in order and once; and what is known of the place where it is said.

the place     conversations, messages, recent, owners, offers, notices
the way out   outbox, sender, carrying, performing
its pace      pacing, yielding_calls, writing
its end       verdict, fates
"""
