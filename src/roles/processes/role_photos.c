/* SPDX-License-Identifier: Apache-2.0 */
/* role_photos.c - the role photos: photos of the blob store, for those who look at offers. */
#include "photos/photo_folder.h"
#include "roles/processes/process.h"

/* One a process; the server borrows it for its life. */
static struct folder folder;

int role_photos_start(struct process *process, struct err *err)
{
    (void)err;
    folder = photo_folder(process->backends.blob);
    if (process->server)
        server_add_folder(process->server, &folder);
    return 0;
}

void role_photos_stop(struct process *process)
{
    (void)process; /* it has no threads: its answers ended with the server's */
}
