"""Mutated pictures and bombs: one answer each, and the server lives on. benchmarks/hostile_pictures.py
sends many more."""
from clients import connect
from images import encode, infer_pictures, write_image_model
from picture_attacks import attack
from PIL import Image

COUNT = 1500


def test_every_hostile_picture_gets_its_own_answer(serve, tmp_path):
    write_image_model(tmp_path, resize="64", crop="48", max_pixels="4000000", size_output="size",
                      jpeg_scaled_decode="1/2")
    server = serve(tmp_path)
    decoded, refused = attack(server, COUNT)
    assert decoded + refused == COUNT
    assert decoded > COUNT / 20 and refused > COUNT / 4  # neither all harmless nor all nonsense
    with connect(server, "grpc") as (api, client):
        good = encode(Image.new("RGB", (100, 80), (9, 200, 3)))
        assert infer_pictures(api, client, "prepare", [good])[0].shape == (1, 3, 48, 48)
        counts = client.get_inference_statistics("prepare", as_json=True)["model_stats"][0]
    assert int(counts["inference_stats"]["success"]["count"]) == decoded + 1
    assert int(counts["inference_stats"]["fail"]["count"]) == refused
