"""An agent on asyncio that sends its mails at the same time: one waits for people, and the others go on."""

import asyncio
import math

import writ

client = writ.AsyncWrit()


@client.guard("mail.send", wait=math.inf)
async def send(to: str, text: str) -> None:
    """The tool. Here it prints; yours has a mail server."""
    print(f"sent to {to}", flush=True)


async def main() -> None:
    mails = [
        {"to": "bo@example.com", "text": "Lunch at noon?"},
        {"to": "kim@shop.example", "text": "Your parcel is on its way."},
        {"to": "max@rival.example", "text": "Our prices for next year."},
    ]
    tasks = {asyncio.ensure_future(send(**mail)): mail for mail in mails}
    done, pending = await asyncio.wait(tasks, timeout=10)
    for task in pending:
        print(f"the mail to {tasks[task]['to']} waits for people", flush=True)
    if pending:
        done |= (await asyncio.wait(pending))[0]
    for task in done:
        error = task.exception()
        if isinstance(error, writ.DeniedError):
            print(f"not sent: {error.decision.reason}", flush=True)
        elif error is not None:
            raise error


asyncio.run(main())
