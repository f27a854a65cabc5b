"""What of this process the objects that models see need: the link, the status page, the model."""
from proa_link import LOG, U32, Draft
from proa_objects import TritonModelException as exception

link = None
pump = None
model = None
page = None   # u32: two for each slot behind the first sixteen, see status_page.h


def start(the_link, the_pump, status_page):
    global link, pump, page
    link = the_link
    pump = the_pump
    page = status_page[:len(status_page) // 4 * 4].cast("I")


def log(level, text, file, line):
    """level: 0 info, 1 warning, 2 error, 3 verbose."""
    draft = Draft(link, LOG)
    draft.body.append(level)
    draft.put_string(file)
    draft.body += U32.pack(line)
    draft.put_string(text)
    draft.send()


def is_cancelled(request):
    """Whether the client of a request (or its sender) has gone away."""
    return page[16 + 2 * request._slot] == request._number & 0xFFFFFFFF


def is_paused(request):
    """Whether its client does not take what it has."""
    return page[17 + 2 * request._slot] == request._number & 0xFFFFFFFF
