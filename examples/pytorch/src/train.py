"""A network under DistributedDataParallel, with a checkpoint of each epoch. It also runs under torchrun."""

import csv
import json
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

options = json.loads(os.environ["SM_HPS"])
numbers = ["Beak Length (mm)", "Beak Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"]
species = ["Adelie", "Chinstrap", "Gentoo"]
scale = torch.tensor([44.0, 17.0, 200.0, 4200.0]), torch.tensor([5.0, 2.0, 14.0, 800.0])
checkpoint = os.path.join(os.environ["SM_CHECKPOINT_DIR"], "checkpoint.pt")


def read(split):
    path = os.path.join(os.environ[f"SM_CHANNEL_{split.upper()}"], "data.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    values = [[float(row[name] or mean) for name, mean in zip(numbers, scale[0])] for row in rows]
    return (torch.tensor(values) - scale[0]) / scale[1], torch.tensor([species.index(row["Species"]) for row in rows])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["RINGMASTER_SEED"]))
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    units = options["units"]
    network = torch.nn.Sequential(torch.nn.Linear(4, units), torch.nn.ReLU(), torch.nn.Linear(units, 3))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    first = 0
    if os.path.exists(checkpoint):
        saved = torch.load(checkpoint)
        network.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["epoch"]

    inputs, labels = read("train")
    inputs, labels = inputs[rank::world], labels[rank::world]
    for epoch in range(first, options["epochs"]):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        if rank > 0:
            continue
        saved = {"model": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}
        torch.save(saved, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")

    if rank == 0:
        torch.save(network.state_dict(), os.path.join(os.environ["SM_MODEL_DIR"], "model.pt"))
        with torch.no_grad():
            probabilities = torch.softmax(network(read("test")[0]).double(), dim=1)
        with open(os.path.join(os.environ["SM_OUTPUT_DATA_DIR"], "predictions.csv"), "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["row", *species])
            writer.writerows([row, *values] for row, values in enumerate(probabilities.tolist()))
    dist.destroy_process_group()


main()
